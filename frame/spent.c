// SPDX-License-Identifier: Apache-2.0
/* The list lies in the blocks themselves. A block is shortened, which costs what the piece at its
 * end does where the allocator has mapped it by itself, and freed when little is left of it. */
#include "frame/spent.h"

#include "frame/asan.h"

#include <stdlib.h>

struct spent_block {
    struct spent_block *next; /* own */
    size_t size;              /* of the whole block */
};

static struct spent *taker_of(const struct charge *charge)
{
    while (charge != NULL && charge->parent != NULL) {
        charge = charge->parent;
    }
    return charge == NULL ? NULL : charge->spent;
}

static void put(struct spent *spent, struct spent_block *block, size_t size)
{
    const bool some = spent->first != NULL;
    *block = (struct spent_block){.next = spent->first, .size = size};
    spent->first = block;
    spent->bytes += size;
    ASAN_POISON(block + 1, size - sizeof *block);
    charge_add(spent->charge, CHARGE_CACHE, size);
    if (!some) {
        spent->on_some(spent);
    }
}

void spent_free(struct charge *charge, void *block, size_t size)
{
    struct spent *spent = size < SPENT_MIN ? NULL : taker_of(charge);
    if (spent == NULL) {
        free(block);
    } else {
        put(spent, block, size);
    }
}

static void shorten_first(struct spent *spent)
{
    const size_t size = spent->first->size - SPENT_PIECE;
    struct spent_block *block = realloc(spent->first, size);
    if (block == NULL) {
        abort();
    }
    charge_resize(spent->charge, CHARGE_CACHE, block->size, size);
    block->size = size;
    spent->first = block;
    spent->bytes -= SPENT_PIECE;
}

static void free_first(struct spent *spent)
{
    struct spent_block *block = spent->first;
    spent->first = block->next;
    spent->bytes -= block->size;
    charge_drop(spent->charge, CHARGE_CACHE, block->size);
    ASAN_UNPOISON(block + 1, block->size - sizeof *block);
    free(block);
}

/* AddressSanitizer's allocator would copy it. */
static bool is_long(const struct spent_block *block)
{
    return !ASAN && block->size > 2 * SPENT_PIECE;
}

bool spent_give_back(struct spent *spent)
{
    if (spent->first == NULL) {
        return false;
    }
    if (is_long(spent->first)) {
        shorten_first(spent);
    } else {
        free_first(spent);
    }
    return spent->first != NULL;
}
