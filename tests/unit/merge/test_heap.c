// SPDX-License-Identifier: Apache-2.0
/* The heap against a plain sort. */
#include "merge/heap.h"
#include "tests/support/frame_random.h"
#include "tests/unit/frame/unit.h"

#define MOST 200

static const char owner[] = "owner";

static bool is_less(const void *owner_given, const void *a, const void *b)
{
    if (owner_given != owner) {
        ck_abort_msg("another owner");
    }
    return *(const int *)a < *(const int *)b;
}

static int ascending(const void *a, const void *b)
{
    int first = *(const int *)a;
    int second = *(const int *)b;
    return (first > second) - (first < second);
}

static struct heap heap_of(void **items)
{
    return (struct heap){.items = items, .less = is_less, .owner = owner};
}

START_TEST(empty)
{
    void *items[1];
    struct heap heap = heap_of(items);
    ck_assert_ptr_null(heap_top(&heap));
    ck_assert_ptr_null(heap_pop(&heap));
    heap_sift_top(&heap);
    int one = 1;
    heap_push(&heap, &one);
    heap_sift_top(&heap);
    ck_assert_ptr_eq(heap_top(&heap), &one);
    ck_assert_ptr_eq(heap_pop(&heap), &one);
    ck_assert_ptr_null(heap_pop(&heap));
}
END_TEST

START_TEST(pops_what_a_sort_gives)
{
    uint64_t state = 5;
    for (size_t count = 0; count <= MOST; count++) {
        int numbers[MOST];
        int sorted[MOST];
        void *items[MOST];
        struct heap heap = heap_of(items);
        for (size_t i = 0; i < count; i++) {
            numbers[i] = (int)random_below(&state, 50);
            sorted[i] = numbers[i];
            heap_push(&heap, &numbers[i]);
        }
        qsort(sorted, count, sizeof *sorted, ascending);
        for (size_t i = 0; i < count; i++) {
            ck_assert_int_eq(*(int *)heap_top(&heap), sorted[i]);
            ck_assert_int_eq(*(int *)heap_pop(&heap), sorted[i]);
        }
        ck_assert_uint_eq(heap.count, 0);
    }
}
END_TEST

/* As the merge does: the top moves on, and is put in its place or taken out. */
START_TEST(a_changed_top_finds_its_place)
{
    uint64_t state = 9;
    for (size_t round = 0; round < 300; round++) {
        int numbers[MOST];
        void *items[MOST];
        struct heap heap = heap_of(items);
        size_t count = 1 + random_below(&state, MOST);
        for (size_t i = 0; i < count; i++) {
            numbers[i] = (int)random_below(&state, 100);
            heap_push(&heap, &numbers[i]);
        }
        int last = -1;
        while (heap.count > 0) {
            int *top = heap_top(&heap);
            ck_assert_int_ge(*top, last);
            last = *top;
            *top += (int)random_below(&state, 20);
            if (*top > 120) {
                ck_assert_ptr_eq(heap_pop(&heap), top);
            } else {
                heap_sift_top(&heap);
            }
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("heap");
    TCase *tcase = tcase_create("heap");
    tcase_add_test(tcase, empty);
    tcase_add_test(tcase, pops_what_a_sort_gives);
    tcase_add_test(tcase, a_changed_top_finds_its_place);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
