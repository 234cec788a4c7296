// SPDX-License-Identifier: Apache-2.0
/*
 * TLS contexts for both directions: at least TLS 1.2, ALPN "h2". A context is read once from its
 * files; who wants to reload makes a new one, connections that run keep the old one alive.
 */
#pragma once

#include "frame/error.h"

struct ssl_ctx_st;

/* PEM files: the certificate chain, leaf first, and its key. NULL: err tells. */
struct ssl_ctx_st *tls_server_new(const char *cert_file, const char *key_file,
                                  struct error *err) MUST_CHECK;
/* Verifies servers against the CAs in this PEM file; NULL = those of the system. Host names are
 * checked by the link. */
struct ssl_ctx_st *tls_client_new(const char *ca_file, struct error *err) MUST_CHECK;
/* Gives one count back and NULLs the pointer; NULL is a no-op. */
void tls_free(struct ssl_ctx_st **tls);
