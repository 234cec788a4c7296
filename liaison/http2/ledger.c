// SPDX-License-Identifier: Apache-2.0
/* Sizes are asked from malloc: what is charged is what is held, with its rounding and its own word
 * in front of each piece. nghttp2 takes many small ones. */
#include "liaison/http2/ledger.h"

#include <assert.h>
#include <malloc.h>
#include <stdlib.h>

void ledger_add(struct ledger *ledger, size_t bytes)
{
    charge_resize(ledger->charge, CHARGE_WIRE, 0, bytes);
    ledger->bytes += bytes;
}

void ledger_drop(struct ledger *ledger, size_t bytes)
{
    assert(bytes <= ledger->bytes);
    charge_resize(ledger->charge, CHARGE_WIRE, bytes, 0);
    ledger->bytes -= bytes;
}

static size_t held(void *memory)
{
    return memory == NULL ? 0 : malloc_usable_size(memory) + sizeof(size_t);
}

static void *taken(struct ledger *ledger, void *memory)
{
    if (memory == NULL) {
        abort();
    }
    ledger_add(ledger, held(memory));
    return memory;
}

static void *take(size_t size, void *ledger)
{
    return taken(ledger, malloc(size));
}

static void *take_zeroed(size_t count, size_t size, void *ledger)
{
    return taken(ledger, calloc(count, size));
}

static void *take_again(void *memory, size_t size, void *ledger)
{
    ledger_drop(ledger, held(memory));
    return taken(ledger, realloc(memory, size));
}

static void give_back(void *memory, void *ledger)
{
    ledger_drop(ledger, held(memory));
    free(memory);
}

void ledger_init(struct ledger *ledger, struct charge *charge)
{
    *ledger = (struct ledger){
        .charge = charge,
        .allocator = {ledger, take, give_back, take_zeroed, take_again},
    };
    charge_add(charge, CHARGE_WIRE, 0);
}

void ledger_fini(struct ledger *ledger)
{
    assert(ledger->bytes == 0);
    charge_drop(ledger->charge, CHARGE_WIRE, 0);
}
