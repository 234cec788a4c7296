// SPDX-License-Identifier: Apache-2.0
/* Whom an outgoing connection trusts. The CA file is read anew for each connection, so a replaced
 * one counts from the next on; connections that run go on with the old one. */
#pragma once

#include "liaison/http2/tls.h"

/* Puts what the next connection needs in place of what is there: NULL when TLS is off. False: the
 * file cannot be used, err says why. */
bool trust_renew(struct ssl_ctx_st **tls, bool enabled, const char *ca_path,
                 struct error *err) MUST_CHECK;
