// SPDX-License-Identifier: Apache-2.0
/* The memory of one connection's protocol state, charged as it is taken: nghttp2's allocator. */
#pragma once

#include "frame/charge.h"

#include <nghttp2/nghttp2.h>

/* Embedded by its connection; one object of kind WIRE. */
struct ledger {
    struct charge *charge; /* borrow: outlives it; may be NULL */
    size_t bytes;          /* charged now */
    nghttp2_mem allocator; /* for nghttp2_session_…_new3 */
};

void ledger_init(struct ledger *ledger, struct charge *charge);
void ledger_fini(struct ledger *ledger); /* what nghttp2 took has been given back */

/* Memory of the connection that others allocate. */
void ledger_add(struct ledger *ledger, size_t bytes);
void ledger_drop(struct ledger *ledger, size_t bytes);
