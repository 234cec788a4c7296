// SPDX-License-Identifier: Apache-2.0
/* What a region gives out: aligned, apart from each other, copied to the byte, gone after rewind.
 */
#include "merge/arena.h"
#include "tests/support/frame_random.h"
#include "tests/unit/frame/unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(allocations_are_aligned_and_apart)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    uint64_t state = 7;
    struct slice given[600];
    for (size_t i = 0; i < 600; i++) {
        size_t size = random_below(&state, i % 50 == 0 ? 20000 : 200);
        size_t align = (size_t)1 << random_below(&state, 7);
        uint8_t *at = arena_alloc(&arena, size, align);
        ck_assert_uint_eq((uintptr_t)at % align, 0);
        memset(at, (int)i, size);
        given[i] = slice_of(at, size);
    }
    for (size_t i = 0; i < 600; i++) {
        for (size_t k = 0; k < given[i].len; k++) {
            ck_assert_uint_eq(given[i].ptr[k], (uint8_t)i);
        }
    }
    arena_fini(&arena);
}
END_TEST

START_TEST(zeroed_also_where_memory_was_used)
{
    struct arena_cache cache = {.limit = 1 << 20};
    struct arena arena;
    for (int round = 0; round < 2; round++) {
        arena_init(&arena, SIZE_MAX, &cache, NULL);
        uint64_t *numbers = arena_array(&arena, uint64_t, 100);
        for (size_t i = 0; i < 100; i++) {
            ck_assert_uint_eq(numbers[i], 0);
        }
        memset(numbers, 0xEE, 100 * sizeof *numbers);
        ck_assert_uint_eq((uintptr_t)numbers % _Alignof(uint64_t), 0);
        ck_assert_ptr_nonnull(arena_array_raw(&arena, uint32_t, 3));
        arena_fini(&arena);
    }
    arena_cache_fini(&cache);
}
END_TEST

/* Every length up to a few blocks of 16, one after the other, so that what is copied too far would
 * spoil a neighbour. */
START_TEST(keeps_to_the_byte)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    uint8_t text[400 + ARENA_SPARE];
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (uint8_t)(i * 7 + 1);
    }
    struct slice kept[3 * 400];
    for (size_t i = 0; i < 3 * 400; i++) {
        struct slice from = slice_of(text + i % 3, i % 400);
        kept[i] = i % 2 == 0 ? arena_keep(&arena, from) : arena_copy(&arena, from);
    }
    for (size_t i = 0; i < 3 * 400; i++) {
        ck_assert(slice_equal(kept[i], slice_of(text + i % 3, i % 400)));
    }
    arena_fini(&arena);
}
END_TEST

START_TEST(an_empty_string_is_kept_in_an_empty_region)
{
    static const uint8_t spare[ARENA_SPARE];
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    struct slice kept = arena_keep(&arena, slice_of(spare, 0));
    ck_assert_uint_eq(kept.len, 0);
    ck_assert_ptr_nonnull(kept.ptr);
    ck_assert_uint_eq(arena_copy(&arena, (struct slice){0}).len, 0);
    ck_assert_str_eq(arena_strdup(&arena, (struct slice){0}), "");
    ck_assert_ptr_nonnull(arena_alloc(&arena, 0, 64));
    arena_fini(&arena);
}
END_TEST

START_TEST(strdup_ends_in_nul)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    char *text = arena_strdup(&arena, slice_of("abcdef", 3));
    ck_assert_str_eq(text, "abc");
    ck_assert_str_eq(arena_strdup(&arena, slice_str("x")), "x");
    ck_assert_str_eq(text, "abc");
    arena_fini(&arena);
}
END_TEST

START_TEST(rewind_gives_up_what_came_after)
{
    struct charge charge = {0};
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, &charge);
    struct arena_mark nothing = arena_mark(&arena);
    struct slice before = arena_copy(&arena, slice_str("before"));
    size_t capacity = arena.capacity;
    struct arena_mark mark = arena_mark(&arena);
    const void *after = arena_alloc(&arena, 10, 1);
    arena_alloc(&arena, 100000, 1); /* a block of its own, and the rest of others */
    arena_alloc(&arena, 10000000, 8);
    arena_rewind(&arena, mark);
    ck_assert_uint_eq(arena.capacity, capacity);
    ck_assert_uint_eq(charge.bytes[CHARGE_REGION], capacity);
    ck_assert(slice_equal(before, slice_str("before")));
    ck_assert_ptr_eq(arena_alloc(&arena, 10, 1), after);
    arena_rewind(&arena, nothing);
    ck_assert_uint_eq(arena.capacity, 0);
    ck_assert_ptr_nonnull(arena_alloc(&arena, 1, 1));
    arena_fini(&arena);
}
END_TEST

START_TEST(room_is_of_the_region)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    struct room room = arena_room(&arena);
    uint8_t *at = room.alloc(room.owner, 100, 32);
    ck_assert_uint_eq((uintptr_t)at % 32, 0);
    ck_assert_uint_gt(arena.capacity, 0);
    arena_fini(&arena);
}
END_TEST

/* Runs it in a child; returns how that ended and what it said. */
static int in_child(void (*run)(void), char *said, size_t size)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        run();
        _exit(0);
    }
    close(ends[1]);
    size_t len = 0;
    ssize_t got;
    while (len + 1 < size && (got = read(ends[0], said + len, size - 1 - len)) > 0) {
        len += (size_t)got;
    }
    said[len] = '\0';
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

static void ask_for_too_much(void)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    volatile size_t count = SIZE_MAX / 8 + 2; /* times 8 it would be 8 bytes */
    arena_array(&arena, uint64_t, count);
}

START_TEST(an_array_too_large_ends_the_program)
{
    char said[4096];
    int status = in_child(ask_for_too_much, said, sizeof said);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
END_TEST

#if ASAN
static void read_after_rewind(void)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    arena_alloc(&arena, 8, 8);
    struct arena_mark mark = arena_mark(&arena);
    volatile uint8_t *at = arena_zalloc(&arena, 64, 8);
    arena_rewind(&arena, mark);
    at[0] = at[1];
}

static void read_past_the_last(void)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    volatile uint8_t *at = arena_zalloc(&arena, 64, 8);
    at[0] = at[64];
}

static struct arena_cache kept_blocks = {.limit = 1 << 20};

static void read_after_fini(void)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX, &kept_blocks, NULL);
    volatile uint8_t *at = arena_zalloc(&arena, 64, 8);
    arena_fini(&arena);
    at[0] = at[1];
}

START_TEST(sanitizer_sees_what_is_not_given_out)
{
    static void (*const faults[])(void) = {read_after_rewind, read_past_the_last, read_after_fini};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char said[16384];
        ck_assert_int_ne(in_child(faults[i], said, sizeof said), 0);
        ck_assert_msg(strstr(said, "use-after-poison") != NULL, "fault %zu: %s", i, said);
    }
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("arena");
    TCase *tcase = tcase_create("arena");
    tcase_add_test(tcase, allocations_are_aligned_and_apart);
    tcase_add_test(tcase, zeroed_also_where_memory_was_used);
    tcase_add_test(tcase, keeps_to_the_byte);
    tcase_add_test(tcase, an_empty_string_is_kept_in_an_empty_region);
    tcase_add_test(tcase, strdup_ends_in_nul);
    tcase_add_test(tcase, rewind_gives_up_what_came_after);
    tcase_add_test(tcase, room_is_of_the_region);
    tcase_add_test(tcase, an_array_too_large_ends_the_program);
#if ASAN
    tcase_add_test(tcase, sanitizer_sees_what_is_not_given_out);
#endif
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
