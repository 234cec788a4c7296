// SPDX-License-Identifier: Apache-2.0
/* The curve P-256: a key is made at once, and handshakes are short. */
#include "tests/integration/http2/certificate.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define A_DAY 86400L

static void need(int done)
{
    if (done <= 0) {
        fprintf(stderr, "cannot make a certificate\n");
        exit(EXIT_FAILURE);
    }
}

static X509 *certificate_of(EVP_PKEY *key)
{
    X509 *made = X509_new();
    X509_NAME *name = X509_get_subject_name(made);
    X509_EXTENSION *host =
        X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
    X509_set_version(made, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
    X509_gmtime_adj(X509_getm_notBefore(made), -A_DAY);
    X509_gmtime_adj(X509_getm_notAfter(made), A_DAY);
    need(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"bench", -1,
                                    -1, 0));
    need(X509_set_issuer_name(made, name));
    need(X509_set_pubkey(made, key));
    need(X509_add_ext(made, host, -1));
    need(X509_sign(made, key, EVP_sha256()));
    X509_EXTENSION_free(host);
    return made;
}

void certificate_write(char *path, size_t size)
{
    (void)snprintf(path, size, "/tmp/bydb-certificate-XXXXXX");
    FILE *file = fdopen(mkstemp(path), "w");
    need(file != NULL);
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = certificate_of(key);
    need(PEM_write_X509(file, certificate));
    need(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL));
    need(fclose(file) == 0);
    X509_free(certificate);
    EVP_PKEY_free(key);
}
