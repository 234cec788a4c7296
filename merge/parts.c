// SPDX-License-Identifier: Apache-2.0
/* Where hashes agree in more bits than chance lets them, parts double instead of being split. */
#include "merge/parts.h"

#define BITS_MAX 16

static void *new_slots(struct parts *parts, size_t slots)
{
    void *spare = parts->spare;
    if (slots == PARTS_SLOTS && spare != NULL) {
        parts->spare = NULL;
        return memset(spare, 0, slots * parts->slot);
    }
    return arena_zarray(parts->arena, parts->slot, slots, 16);
}

static struct part new_part(struct parts *parts, size_t slots, unsigned bits, uint32_t lifetime)
{
    struct part_load *load = arena_new(parts->arena, struct part_load);
    *load = (struct part_load){.bits = bits, .lifetime = lifetime};
    return (struct part){.slots = new_slots(parts, slots), .mask = slots - 1, .load = load};
}

void parts_init(struct parts *parts, size_t slot, size_t slots, struct arena *arena)
{
    *parts = (struct parts){.arena = arena, .slot = slot};
    parts->only = new_part(parts, slots, 0, 0);
}

static struct part *list_of(struct parts *parts)
{
    return parts->bits == 0 ? &parts->only : parts->list;
}

/* Each place becomes two. */
static void double_list(struct parts *parts)
{
    const size_t count = (size_t)1 << parts->bits;
    const struct part *before = list_of(parts);
    struct part *list = arena_array_raw(parts->arena, struct part, 2 * count);
    for (size_t i = 0; i < count; i++) {
        list[2 * i] = before[i];
        list[2 * i + 1] = before[i];
    }
    parts->list = list;
    parts->bits++;
}

static void put(struct parts *parts, size_t first, size_t places, struct part part)
{
    for (size_t i = 0; i < places; i++) {
        list_of(parts)[first + i] = part;
    }
}

void parts_grow(struct parts *parts, uint64_t hash, struct part *old_out)
{
    const struct part old = *parts_of(parts, hash);
    const size_t slots = old.mask + 1;
    const unsigned bits = old.load->bits;
    const uint32_t lifetime = old.load->lifetime;
    const bool splits = slots == PARTS_SLOTS && bits < BITS_MAX;
    if (splits && bits == parts->bits) {
        double_list(parts);
    }
    const size_t places = (size_t)1 << (parts->bits - bits);
    const size_t first = (size_t)(parts_of(parts, hash) - list_of(parts)) & ~(places - 1);
    if (splits) {
        put(parts, first, places / 2, new_part(parts, slots, bits + 1, lifetime));
        put(parts, first + places / 2, places / 2, new_part(parts, slots, bits + 1, lifetime));
    } else {
        put(parts, first, places, new_part(parts, 2 * slots, bits, lifetime));
    }
    *old_out = old;
}

void parts_give_back(struct parts *parts, const struct part *old)
{
    if (old->mask + 1 == PARTS_SLOTS) {
        parts->spare = old->slots;
    }
}

const struct part *parts_next(const struct parts *parts, const struct part *part)
{
    const struct part *list = parts->bits == 0 ? &parts->only : parts->list;
    const struct part *next =
        part == NULL ? list : part + ((size_t)1 << (parts->bits - part->load->bits));
    return next == list + ((size_t)1 << parts->bits) ? NULL : next;
}
