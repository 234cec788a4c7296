// SPDX-License-Identifier: Apache-2.0
#include "liaison/cluster/trust.h"

#include <stddef.h>

bool trust_renew(struct ssl_ctx_st **tls, bool enabled, const char *ca_path, struct error *err)
{
    tls_free(tls);
    *tls = enabled ? tls_client_new(ca_path, err) : NULL;
    return *tls != NULL || !enabled;
}
