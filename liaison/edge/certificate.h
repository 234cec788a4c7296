// SPDX-License-Identifier: Apache-2.0
/*
 * The certificate that clients are shown. Chain and key are read again when one of their files is
 * replaced: new connections are shown the new one, those that run go on. A pair that cannot be
 * used is told in the log and the old one stays.
 */
#pragma once

#include "frame/error.h"
#include "liaison/log.h"
#include "liaison/loop.h"
#include "liaison/options/options.h"

struct certificate;
struct ssl_ctx_st;

struct certificate_setup {
    struct loop *loop;             /* borrow: outlives it */
    const struct options *options; /* borrow: outlives it; tls, cert_file, key_file */
    struct log *log;               /* borrow: outlives it; may be NULL */
    /* Another one is to be shown from now on; the context is the certificate's. */
    void (*on_change)(void *owner, struct ssl_ctx_st *context);
    void *owner; /* borrow */
};

/* NULL and err: the files cannot be used. Only with --tls. */
struct certificate *certificate_open(const struct certificate_setup *setup,
                                     struct error *err) MUST_CHECK;
struct ssl_ctx_st *certificate_context(const struct certificate *certificate);
void certificate_close(struct certificate **certificate);
