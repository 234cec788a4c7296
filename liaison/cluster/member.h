// SPDX-License-Identifier: Apache-2.0
/* A data node as the cluster knows it, before anybody is connected to it. */
#pragma once

#include "proto/database.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct label {
    char *key;   /* own */
    char *value; /* own */
};

struct member {
    char *name;    /* own: the node's identity, "host:port" as it calls itself */
    char *address; /* own: to dial for queries (Node.grpc_address) */
    size_t label_count;
    struct label *labels; /* own */
    size_t said_len;
    uint8_t *said;      /* own: the whole Node, encoded, as it told it */
    int64_t created_at; /* ns since the epoch; 0 = not told */
    bool reached;       /* false: listed by discovery, but it never told its name (then name is
                           the discovery address); it is not asked and counts as missing */
    int64_t left_at;    /* ns since the epoch: when it left discovery, 0 = it is listed. It is not
                           asked and counts as missing until --node-forget-after */
};

/* From what the node says of itself. */
void member_init(struct member *member, const Banyandb__Database__V1__Node *node);
void member_copy(const struct member *member, struct member *copy_out);
void member_fini(struct member *member);

/* The value of a label, or NULL. */
const char *member_label(const struct member *member, const char *key);
/* The value of its label `type`, or "". */
const char *member_tier(const struct member *member);
/* Listed, and its name is known: it can be asked, if it is up. */
static inline bool member_is_askable(const struct member *member)
{
    return member->reached && member->left_at == 0;
}
/* Of two members, for qsort. */
int member_by_name(const void *a, const void *b);
/* Same name, address, labels, …: a picture with the one is as good as with the other. */
bool member_equal(const struct member *a, const struct member *b);
