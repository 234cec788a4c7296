// SPDX-License-Identifier: Apache-2.0
/*
 * The full compare of what schema servers hold with what we hold: digests in, a list of ids to
 * fetch and of ids to forget out.
 *
 * Every server tells every revision and tombstone that it has. For each id the greatest updated_at
 * wins, of equals the deleted one. A live winner that is newer than ours is fetched; an id of ours
 * that no server tells any more is forgotten, provided that every server was heard.
 */
#pragma once

#include "proto/catalog.h"

struct compare_digest {
    char *id; /* own */
    enum schema_kind kind;
    int64_t updated_at;
    int64_t delete_time; /* 0 = live */
    size_t source;       /* which server told it */
};

struct compare {
    size_t count;
    size_t capacity;
    struct compare_digest *digests; /* own */
};

/* Copies the id. */
void compare_add(struct compare *compare, const struct compare_digest *digest);
/* Empties it for the next time. */
void compare_clear(struct compare *compare);

struct compare_actions {
    void (*fetch)(void *owner, const struct compare_digest *digest);
    void (*forget)(void *owner, const char *id); /* NULL: not every server was heard */
    void *owner;
};

void compare_run(struct compare *compare, const struct catalog_store *store,
                 const struct compare_actions *actions);
