// SPDX-License-Identifier: Apache-2.0
/* Nothing to tune: OpenSSL's defaults for ciphers and curves, sessions not kept. */
#include "liaison/http2/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <string.h>

#define READ_BYTES (64u << 10)

static const unsigned char protocols[] = {2, 'h', '2'};

static struct ssl_ctx_st *failed(struct ssl_ctx_st *tls, const char *what, const char *file,
                                 struct error *err)
{
    char text[256] = "no reason given";
    const unsigned long code = ERR_peek_last_error();
    if (code != 0) {
        ERR_error_string_n(code, text, sizeof text);
    }
    ERR_clear_error();
    error_set(err, ERROR_INVALID_ARGUMENT, "TLS: %s %s: %s", what, file, text);
    SSL_CTX_free(tls);
    return NULL;
}

static struct ssl_ctx_st *tls_new(const SSL_METHOD *method)
{
    ERR_clear_error();
    struct ssl_ctx_st *tls = SSL_CTX_new(method);
    if (tls != NULL) {
        SSL_CTX_set_read_ahead(tls, 1); /* several records with one system call */
        SSL_CTX_set_default_read_buffer_len(tls, READ_BYTES);
        SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION);
        SSL_CTX_set_options(tls, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                     SSL_OP_IGNORE_UNEXPECTED_EOF);
    }
    return tls;
}

/* A client without h2 among its protocols gets a TLS alert; one without ALPN is refused after the
 * handshake. */
// NOLINTNEXTLINE(readability-function-size): OpenSSL's signature
static int choose_protocol(struct ssl_st *ssl, const unsigned char **out, unsigned char *out_len,
                           const unsigned char *offered, unsigned offered_len, void *unused)
{
    (void)ssl;
    (void)unused;
    unsigned char *chosen;
    const int result =
        SSL_select_next_proto(&chosen, out_len, protocols, sizeof protocols, offered, offered_len);
    *out = chosen;
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

struct ssl_ctx_st *tls_server_new(const char *cert_file, const char *key_file, struct error *err)
{
    struct ssl_ctx_st *tls = tls_new(TLS_server_method());
    if (tls == NULL) {
        return failed(tls, "cannot make a context", "", err);
    }
    if (SSL_CTX_use_certificate_chain_file(tls, cert_file) != 1) {
        return failed(tls, "cannot read the certificate", cert_file, err);
    }
    if (SSL_CTX_use_PrivateKey_file(tls, key_file, SSL_FILETYPE_PEM) != 1) {
        return failed(tls, "cannot read the key", key_file, err);
    }
    if (SSL_CTX_check_private_key(tls) != 1) {
        return failed(tls, "this key does not fit the certificate:", key_file, err);
    }
    SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_alpn_select_cb(tls, choose_protocol, NULL);
    return tls;
}

struct ssl_ctx_st *tls_client_new(const char *ca_file, struct error *err)
{
    struct ssl_ctx_st *tls = tls_new(TLS_client_method());
    if (tls == NULL) {
        return failed(tls, "cannot make a context", "", err);
    }
    const int loaded = ca_file == NULL ? SSL_CTX_set_default_verify_paths(tls)
                                       : SSL_CTX_load_verify_file(tls, ca_file);
    if (loaded != 1) {
        return failed(tls, "cannot read the CA certificates", ca_file == NULL ? "" : ca_file, err);
    }
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_alpn_protos(tls, protocols, sizeof protocols);
    return tls;
}

void tls_free(struct ssl_ctx_st **tls)
{
    SSL_CTX_free(*tls);
    *tls = NULL;
}
