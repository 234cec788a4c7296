// SPDX-License-Identifier: Apache-2.0
/*
 * Items → TopNResponse bytes: one list, its items best first.
 *
 *     init ── item … item ── end          0a │ list's length │ timestamp │ item │ item │ …
 *                                         └── made at the end ──────────┘
 *
 * The list's length is known last, so what stands before the items is put there at the end; the
 * items are appended as they come and do not move.
 */
#pragma once

#include "frame/chain.h"
#include "merge/topn.h"

struct topn_response {
    struct chain *chain; /* borrow: the bytes so far */
    size_t items;
    size_t limit_bytes; /* the query's budget: past it RESOURCE_EXHAUSTED with the figures */
};

/* The chain is empty. */
void topn_response_init(struct topn_response *response, struct chain *chain, size_t limit_bytes);
bool topn_response_item(struct topn_response *response, const struct topn_item *item,
                        struct error *err) MUST_CHECK;
/* The list's time is `now`, nanoseconds since the epoch. Without items there is no list. */
void topn_response_end(struct topn_response *response, int64_t now);
