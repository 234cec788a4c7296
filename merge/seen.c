// SPDX-License-Identifier: Apache-2.0
/* Linear probing within a part. A part's lifetime is the `first` for which its count is right. */
#include "merge/seen.h"

#include <assert.h>

#define FIRST_CAPACITY 512

static bool is_free(const struct seen *seen, const struct seen_slot *slot)
{
    return slot->number < seen->first;
}

static const struct part *part_of(const struct seen *seen, uint32_t hash)
{
    return parts_of(&seen->parts, (uint64_t)hash << 32);
}

static bool is_full(const struct seen *seen, const struct part *part)
{
    struct part_load *load = part->load;
    if (load->lifetime != seen->first) {
        load->lifetime = seen->first;
        load->count = 0;
    }
    return parts_is_full(part);
}

static size_t first_free(const struct seen *seen, const struct part *part, size_t at)
{
    const struct seen_slot *slots = part->slots;
    for (at &= part->mask; !is_free(seen, &slots[at]); at = (at + 1) & part->mask) {
    }
    return at;
}

static void take_slot(struct seen *seen, const struct part *part, size_t at, struct seen_slot taken)
{
    ((struct seen_slot *)part->slots)[at] = taken;
    part->load->count++;
    if (taken.number >= seen->end) {
        seen->end = taken.number + 1;
    }
}

static __attribute__((noinline, cold)) void begin(struct seen *seen, struct arena *arena)
{
    parts_init(&seen->parts, sizeof(struct seen_slot), FIRST_CAPACITY, arena);
    seen->first = 1; /* a zeroed slot is free */
    seen->end = 1;
}

static void grow(struct seen *seen, uint32_t hash)
{
    struct part old;
    parts_grow(&seen->parts, (uint64_t)hash << 32, &old);
    const struct seen_slot *slots = old.slots;
    for (size_t i = 0; i <= old.mask; i++) {
        if (!is_free(seen, &slots[i])) {
            const struct part *part = part_of(seen, slots[i].hash);
            take_slot(seen, part, first_free(seen, part, slots[i].hash), slots[i]);
        }
    }
    parts_give_back(&seen->parts, &old);
}

/* Seldom: kept out of the way of seen_put, which runs for each row. */
static __attribute__((noinline, cold)) const struct part *make_room(struct seen *seen,
                                                                    uint32_t hash)
{
    const struct part *part = part_of(seen, hash);
    for (; is_full(seen, part); part = part_of(seen, hash)) {
        grow(seen, hash);
    }
    return part;
}

static void forget_numbers(struct seen *seen)
{
    const struct part *part = parts_next(&seen->parts, NULL);
    for (; part != NULL; part = parts_next(&seen->parts, part)) {
        memset(part->slots, 0, (part->mask + 1) * sizeof(struct seen_slot));
    }
    seen->first = 1;
    seen->end = 1;
}

void seen_clear(struct seen *seen)
{
    seen->count = 0;
    seen->first = seen->end;
    if (seen->first > UINT32_MAX / 2) { /* numbers must not run out within one generation */
        forget_numbers(seen);
    }
}

size_t seen_put(struct seen *seen, struct arena *arena, uint32_t hash, size_t number)
{
    assert(number <= SEEN_MAX_NUMBER);
    if (seen->parts.only.slots == NULL) {
        begin(seen, arena);
    }
    const struct part *part = part_of(seen, hash);
    const struct seen_slot *slots = part->slots;
    size_t at = hash & part->mask;
    for (; !is_free(seen, &slots[at]); at = (at + 1) & part->mask) {
        size_t other = slots[at].number - seen->first;
        if (slots[at].hash == hash && seen->same(seen->owner, other, number)) {
            return other;
        }
    }
    if (is_full(seen, part)) {
        part = make_room(seen, hash);
        at = first_free(seen, part, hash);
    }
    take_slot(seen, part, at, (struct seen_slot){hash, seen->first + (uint32_t)number});
    seen->count++;
    return number;
}

void seen_replace(struct seen *seen, uint32_t hash, size_t before, size_t number)
{
    assert(number <= SEEN_MAX_NUMBER);
    const struct part *part = part_of(seen, hash);
    struct seen_slot *slots = part->slots;
    size_t at = hash & part->mask;
    while (slots[at].number != seen->first + before) {
        at = (at + 1) & part->mask;
    }
    slots[at].number = seen->first + (uint32_t)number;
    if (slots[at].number >= seen->end) {
        seen->end = slots[at].number + 1;
    }
}
