// SPDX-License-Identifier: Apache-2.0
#include "liaison/edge/certificate.h"

#include "liaison/cluster/file_watch.h"
#include "liaison/http2/tls.h"
#include "liaison/own.h"

#include <stdlib.h>

#define MODULE "LIAISON-GRPC"

struct certificate {
    struct certificate_setup setup;
    struct ssl_ctx_st *context; /* own: one count */
    struct file_watch *chain;   /* own */
    struct file_watch *key;     /* own */
};

static struct ssl_ctx_st *read_pair(const struct certificate *certificate, struct error *err)
{
    const struct options *options = certificate->setup.options;
    return tls_server_new(options->cert_file, options->key_file, err);
}

/* The two files change one after the other: between them the pair does not fit and is refused. */
static void on_change(void *owner)
{
    struct certificate *certificate = owner;
    struct error err;
    struct ssl_ctx_st *context = read_pair(certificate, &err);
    if (context == NULL) {
        log_warn(certificate->setup.log, MODULE,
                 "Failed to reload TLS certificate, the one before stays; error=%s", err.text);
        return;
    }
    tls_free(&certificate->context);
    certificate->context = context;
    certificate->setup.on_change(certificate->setup.owner, context);
    log_info(certificate->setup.log, MODULE,
             "Successfully updated TLS certificate after content change; file=%s",
             certificate->setup.options->cert_file);
}

struct certificate *certificate_open(const struct certificate_setup *setup, struct error *err)
{
    struct certificate *certificate = own_array(1, sizeof *certificate);
    certificate->setup = *setup;
    certificate->context = read_pair(certificate, err);
    if (certificate->context == NULL) {
        error_prefix(err, "failed to load initial TLS certificate");
        free(certificate);
        return NULL;
    }
    const struct options *options = setup->options;
    certificate->chain = file_watch_open(setup->loop, options->cert_file, on_change, certificate);
    certificate->key = file_watch_open(setup->loop, options->key_file, on_change, certificate);
    return certificate;
}

struct ssl_ctx_st *certificate_context(const struct certificate *certificate)
{
    return certificate->context;
}

void certificate_close(struct certificate **certificate)
{
    struct certificate *closed = *certificate;
    *certificate = NULL;
    if (closed != NULL) {
        file_watch_close(&closed->chain);
        file_watch_close(&closed->key);
        tls_free(&closed->context);
        free(closed);
    }
}
