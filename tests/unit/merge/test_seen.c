// SPDX-License-Identifier: Apache-2.0
/* The set of numbers against a look at all of them; its growth, and what clearing leaves behind. */
#include "merge/once.h"
#include "merge/seen.h"
#include "tests/support/frame_random.h"
#include "tests/unit/frame/unit.h"

#define MOST 20000 /* several parts */

struct records {
    uint64_t values[MOST];
    uint32_t hash_mask; /* few bits: hashes that are equal where the records are not */
};

static bool same(const void *owner, size_t a, size_t b)
{
    const struct records *records = owner;
    return records->values[a] == records->values[b];
}

static uint32_t hash_of(const struct records *records, size_t number)
{
    return seen_hash(1, records->values[number], -5) & records->hash_mask;
}

static struct seen seen_of(const struct records *records)
{
    return (struct seen){.same = same, .owner = records};
}

/* Puts count records of `different` values; the model keeps who stands for a value. */
static void fill(struct seen *seen, struct arena *arena, struct records *records, size_t count,
                 size_t different, uint64_t *state)
{
    static size_t living[MOST];
    memset(living, 0xFF, sizeof living);
    for (size_t i = 0; i < count; i++) {
        size_t value = random_below(state, different);
        records->values[i] = value;
        size_t before = living[value];
        size_t found = seen_put(seen, arena, hash_of(records, i), i);
        ck_assert_uint_eq(found, before == SIZE_MAX ? i : before);
        if (found != i && random_below(state, 2) == 0) {
            seen_replace(seen, hash_of(records, i), found, i);
        }
        bool replaced = found == i || seen_put(seen, arena, hash_of(records, i), i) == i;
        living[value] = replaced ? i : before;
    }
}

static size_t slots_of(const struct seen *seen)
{
    size_t slots = 0;
    const struct part *part = parts_next(&seen->parts, NULL);
    for (; part != NULL; part = parts_next(&seen->parts, part)) {
        slots += part->mask + 1;
    }
    return slots;
}

START_TEST(finds_what_was_put)
{
    static struct records records;
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    uint64_t state = 21;
    for (uint32_t bits = 0; bits <= 32; bits += 4) {
        struct seen seen = seen_of(&records);
        records.hash_mask = (uint32_t)(((uint64_t)1 << bits) - 1);
        size_t most = bits < 8 ? 300 : MOST; /* with few hashes each search is a walk */
        for (int round = 0; round < 4; round++) {
            fill(&seen, &arena, &records, most, 1 + random_below(&state, most), &state);
            ck_assert_uint_le(2 * seen.count, slots_of(&seen));
            seen_clear(&seen);
            ck_assert_uint_eq(seen.count, 0);
        }
    }
    arena_fini(&arena);
}
END_TEST

START_TEST(cleared_before_anything_was_put)
{
    static struct records records = {.hash_mask = UINT32_MAX};
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    struct seen seen = seen_of(&records);
    seen_clear(&seen);
    seen_clear(&seen);
    ck_assert_uint_eq(seen_put(&seen, &arena, 7, 0), 0);
    ck_assert_uint_eq(seen_put(&seen, &arena, 7, 0), 0);
    arena_fini(&arena);
}
END_TEST

/* Slots of earlier generations hold small numbers; when all numbers are used up the table is
 * wiped, and nothing of before is found again. */
START_TEST(generations_wrap_around)
{
    static struct records records = {.hash_mask = UINT32_MAX};
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    struct seen seen = seen_of(&records);
    uint64_t state = 4;
    size_t wiped = 0;
    for (int round = 0; round < 2000; round++) {
        uint32_t first = seen.first;
        fill(&seen, &arena, &records, 100, 60, &state);
        if (round % 3 == 0 && seen.end < UINT32_MAX / 2) { /* as if 2^28 more numbers were used */
            seen.end += 1u << 28;
        }
        seen_clear(&seen);
        ck_assert_uint_le(seen.first, UINT32_MAX / 2);
        wiped += seen.first < first;
        ck_assert_uint_eq(seen.first, seen.end);
    }
    ck_assert_uint_gt(wiped, 50);
    arena_fini(&arena);
}
END_TEST

START_TEST(a_series_is_new_once)
{
    struct arena arena;
    struct once once = {0};
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    static bool given[3][1000];
    uint64_t state = 8;
    const uint64_t equal_hashes = 1180670291512415243u; /* in groups 0 and 1 */
    ck_assert_uint_eq(seen_hash(0, equal_hashes, 0), seen_hash(1, equal_hashes, 0));
    ck_assert(once_put(&once, &arena, 0, equal_hashes));
    ck_assert(once_put(&once, &arena, 1, equal_hashes));
    ck_assert(!once_put(&once, &arena, 1, equal_hashes));
    for (size_t i = 0; i < 20000; i++) {
        size_t group = random_below(&state, 3);
        size_t series = random_below(&state, 1000);
        ck_assert(once_put(&once, &arena, group, series << 40) == !given[group][series]);
        given[group][series] = true;
    }
    arena_fini(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("seen");
    TCase *tcase = tcase_create("seen");
    tcase_add_test(tcase, finds_what_was_put);
    tcase_add_test(tcase, cleared_before_anything_was_put);
    tcase_add_test(tcase, generations_wrap_around);
    tcase_add_test(tcase, a_series_is_new_once);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
