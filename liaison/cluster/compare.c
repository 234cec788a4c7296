// SPDX-License-Identifier: Apache-2.0
/* Two sorted lists, the winners of the servers' digests and our own ids, walked side by side. */
#include "liaison/cluster/compare.h"

#include "liaison/own.h"

#include <stdlib.h>
#include <string.h>

void compare_add(struct compare *compare, const struct compare_digest *digest)
{
    if (compare->count == compare->capacity) {
        compare->capacity = compare->capacity == 0 ? 64 : compare->capacity * 2;
        compare->digests = own_grow(compare->digests, compare->capacity, sizeof *compare->digests);
    }
    compare->digests[compare->count] = *digest;
    compare->digests[compare->count++].id = own_text(digest->id);
}

void compare_clear(struct compare *compare)
{
    for (size_t i = 0; i < compare->count; i++) {
        free(compare->digests[i].id);
    }
    free(compare->digests);
    *compare = (struct compare){0};
}

static int order(int64_t a, int64_t b)
{
    return (a < b) - (a > b);
}

/* By id, then the winner first. */
static int by_id(const void *a, const void *b)
{
    const struct compare_digest *left = a;
    const struct compare_digest *right = b;
    const int ids = strcmp(left->id, right->id);
    const int times = order(left->updated_at, right->updated_at);
    return ids != 0 ? ids : times != 0 ? times : order(left->delete_time, right->delete_time);
}

struct held {
    char *id; /* own */
    int64_t updated_at;
};

struct held_list {
    size_t count;
    size_t capacity;
    struct held *list; /* own */
};

static void add_held(void *owner, const char *id, int64_t updated_at)
{
    struct held_list *held = owner;
    if (held->count == held->capacity) {
        held->capacity = held->capacity == 0 ? 64 : held->capacity * 2;
        held->list = own_grow(held->list, held->capacity, sizeof *held->list);
    }
    held->list[held->count++] = (struct held){.id = own_text(id), .updated_at = updated_at};
}

static int by_held_id(const void *a, const void *b)
{
    const struct held *left = a;
    const struct held *right = b;
    return strcmp(left->id, right->id);
}

/* No server tells this id of ours. */
static void act_on_untold(const struct compare_actions *actions, const struct held *held)
{
    if (actions->forget != NULL) {
        actions->forget(actions->owner, held->id);
    }
}

/* `held` is NULL when we do not have it. */
static void act_on_winner(const struct compare_actions *actions,
                          const struct compare_digest *winner, const struct held *held)
{
    const bool newer = held == NULL || held->updated_at < winner->updated_at;
    if (winner->delete_time == 0 && newer) {
        actions->fetch(actions->owner, winner);
    }
}

static void walk(const struct compare *compare, const struct held_list *held,
                 const struct compare_actions *actions)
{
    size_t j = 0;
    for (size_t i = 0; i < compare->count; i++) {
        const struct compare_digest *winner = &compare->digests[i];
        if (i > 0 && strcmp(winner->id, compare->digests[i - 1].id) == 0) {
            continue; /* beaten */
        }
        while (j < held->count && strcmp(held->list[j].id, winner->id) < 0) {
            act_on_untold(actions, &held->list[j++]);
        }
        const bool both = j < held->count && strcmp(held->list[j].id, winner->id) == 0;
        act_on_winner(actions, winner, both ? &held->list[j++] : NULL);
    }
    while (j < held->count) {
        act_on_untold(actions, &held->list[j++]);
    }
}

void compare_run(struct compare *compare, const struct catalog_store *store,
                 const struct compare_actions *actions)
{
    struct held_list held = {0};
    catalog_store_each(store, add_held, &held);
    if (held.count > 1) {
        qsort(held.list, held.count, sizeof *held.list, by_held_id);
    }
    if (compare->count > 1) {
        qsort(compare->digests, compare->count, sizeof *compare->digests, by_id);
    }
    walk(compare, &held, actions);
    for (size_t i = 0; i < held.count; i++) {
        free(held.list[i].id);
    }
    free(held.list);
}
