// SPDX-License-Identifier: Apache-2.0
/* What a chain holds, as one piece. */
#pragma once

#include "frame/chain.h"

#include <stdlib.h>
#include <string.h>

/* Takes it all out. To be freed; not NULL when it is empty. */
static inline uint8_t *chain_bytes(struct chain *chain, size_t *len_out)
{
    uint8_t *bytes = malloc(chain->len + 1);
    size_t len = 0;
    if (bytes == NULL) {
        abort();
    }
    while (chain->len > 0) {
        const struct slice front = chain_front(chain);
        memcpy(bytes + len, front.ptr, front.len);
        len += front.len;
        chain_drop(chain, front.len);
    }
    *len_out = len;
    return bytes;
}
