// SPDX-License-Identifier: Apache-2.0
/* Keys: ascending tables of every kind, and the order against the storage's byte strings, which are
 * spelled out here without a thought for speed. */
#include "merge/key.h"
#include "tests/support/frame_random.h"
#include "tests/support/frame_test.h"
#include "tests/unit/frame/unit.h"

#include <math.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

static struct cell int_cell(int64_t value)
{
    return (struct cell){.kind = CELL_INT, .number.i = value};
}

static struct cell float_cell(double value)
{
    return (struct cell){.kind = CELL_FLOAT, .number.f = value};
}

static struct cell text_cell(const char *text, size_t len)
{
    return (struct cell){.kind = CELL_STRING, .bytes = slice_of(text, len)};
}

static int compare(const struct cell *a, const struct cell *b)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    struct key key_a = key_of_cell(a, &arena);
    struct key key_b = key_of_cell(b, &arena);
    int order = key_compare(&key_a, &key_b);
    ck_assert_int_eq(order, -key_compare(&key_b, &key_a));
    arena_fini(&arena);
    return order;
}

/* Each is before all that follow it, and equal to itself. */
static void check_ascending(const struct cell *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count; k++) {
            int wanted = i < k ? -1 : i > k;
            ck_assert_msg(compare(&cells[i], &cells[k]) == wanted, "%zu and %zu", i, k);
        }
    }
}

START_TEST(ints_ascend)
{
    const struct cell cells[] = {{.kind = CELL_NULL}, int_cell(INT64_MIN), int_cell(-256),
                                 int_cell(-1),        int_cell(0),         int_cell(1),
                                 int_cell(255),       int_cell(256),       int_cell(INT64_MAX)};
    check_ascending(cells, COUNT(cells));
}
END_TEST

START_TEST(floats_ascend)
{
    const struct cell cells[] = {{.kind = CELL_NULL}, float_cell(-NAN),     float_cell(-INFINITY),
                                 float_cell(-1e300),  float_cell(-1.5),     float_cell(-5e-324),
                                 float_cell(-0.0),    float_cell(5e-324),   float_cell(1.5),
                                 float_cell(1e300),   float_cell(INFINITY), float_cell(NAN)};
    check_ascending(cells, COUNT(cells));
    const struct cell zero = float_cell(0.0);
    const struct cell minus_zero = float_cell(-0.0);
    ck_assert_int_eq(compare(&zero, &minus_zero), 0);
}
END_TEST

START_TEST(strings_ascend)
{
    const struct cell cells[] = {
        {.kind = CELL_NULL},
        text_cell("", 0),
        text_cell("\0", 1),
        text_cell("\0\0", 2),
        text_cell("\0\0\0\0\0\0\0\0", 8),
        text_cell("\0\0\0\0\0\0\0\0\0", 9),
        text_cell("a", 1),
        text_cell("a\0", 2),
        text_cell("a\0b", 3),
        text_cell("ab", 2),
        text_cell("abcdefg", 7),
        text_cell("abcdefg\0", 8),
        text_cell("abcdefgh", 8),
        text_cell("abcdefgh\0", 9),
        text_cell("abcdefghi", 9),
        text_cell("abcdefghij", 10),
        text_cell("abcdefghj", 9),
        text_cell("abcdefgi", 8),
        text_cell("b", 1),
        text_cell("\x7f", 1),
        text_cell("\x80", 1),
        text_cell("\xff\xff\xff\xff\xff\xff\xff\xff", 8),
        text_cell("\xff\xff\xff\xff\xff\xff\xff\xff\x01", 9),
    };
    check_ascending(cells, COUNT(cells));
    const struct cell binary = {.kind = CELL_BINARY, .bytes = slice_of("ab", 2)};
    ck_assert_int_eq(compare(&binary, &cells[9]), 0);
}
END_TEST

/* What a cell of message type is equal to: `same` is the key, spelled out. */
START_TEST(arrays_and_times)
{
    static const struct {
        const char *cell;
        const char *same;
    } table[] = {
        {"1a00", ""},
        {"1a02 0a00", ""},
        {"1a04 0a00 0a00", "0a"},
        {"1a03 0a0161", "61"},
        {"1a06 0a0161 0a0162", "610a62"},
        {"1a08 0a0161 0a00 0a0162", "610a0a62"},
        {"1a08 0a0161 1005 0a0162", "610a62"},
        {"2a00", ""},
        {"2a03 0a0101", "8000000000000001"},
        {"2a04 0a020102", "8000000000000001 8000000000000002"},
        {"2a07 0801 0a0102 0803", "8000000000000001 8000000000000002 8000000000000003"},
        {"2a0d 0a0bffffffffffffffffff0100", "7fffffffffffffff 8000000000000000"},
        {"3a00", "8000000000000000"},
        {"3a02 0801", "800000003b9aca00"},
        {"3a02 1001", "8000000000000001"},
        {"3a04 0801 1001", "800000003b9aca01"},
        {"3a0b 08ffffffffffffffffff01", "7fffffffc4653600"},
        {"3a06 10ffffffff0f", "7fffffffffffffff"}, /* nanos are 32 bits: -1 */
    };
    const struct column column = {.type = COLUMN_TAG_VALUE};
    for (size_t i = 0; i < COUNT(table); i++) {
        uint8_t buf[64];
        uint8_t same[64];
        struct cell cell;
        ck_assert(
            cell_read_message(&column, slice_of(buf, hex_bytes(table[i].cell, buf, 64)), &cell));
        struct cell text = {.kind = CELL_STRING};
        text.bytes = slice_of(same, hex_bytes(table[i].same, same, 64));
        ck_assert_msg(compare(&cell, &text) == 0, "%s", table[i].cell);
    }
}
END_TEST

/* ------------------------------------------------- the order, spelled out */

struct image {
    bool present;
    uint8_t bytes[64];
    size_t len;
};

static void put_big_endian(struct image *image, uint64_t value)
{
    for (int shift = 56; shift >= 0; shift -= 8) {
        image->bytes[image->len++] = (uint8_t)(value >> shift);
    }
}

static struct image image_of(const struct cell *cell)
{
    struct image image = {.present = cell->kind != CELL_NULL};
    uint64_t bits;
    if (cell->kind == CELL_INT) {
        put_big_endian(&image, (uint64_t)cell->number.i + ((uint64_t)1 << 63));
    } else if (cell->kind == CELL_FLOAT) {
        double value = cell->number.f == 0 ? 0.0 : cell->number.f;
        memcpy(&bits, &value, sizeof bits);
        bool negative = bits >> 63 != 0;
        put_big_endian(&image, negative ? UINT64_MAX - bits : bits + ((uint64_t)1 << 63));
    } else if (cell->kind != CELL_NULL) {
        memcpy(image.bytes, cell->bytes.ptr, cell->bytes.len);
        image.len = cell->bytes.len;
    }
    return image;
}

static int compare_images(const struct image *a, const struct image *b)
{
    if (a->present != b->present) {
        return a->present ? 1 : -1;
    }
    for (size_t i = 0; i < a->len && i < b->len; i++) {
        if (a->bytes[i] != b->bytes[i]) {
            return a->bytes[i] < b->bytes[i] ? -1 : 1;
        }
    }
    return a->len < b->len ? -1 : a->len > b->len;
}

/* Few different values, so that equal and nearly equal ones come often. */
static struct cell random_cell(uint64_t *state, uint8_t *text)
{
    static const int64_t numbers[] = {0, 1, -1, 255, 256, INT64_MIN, INT64_MAX, 97};
    int64_t number = numbers[random_below(state, 8)];
    double value;
    switch (random_below(state, 4)) {
    case 0:
        return (struct cell){.kind = CELL_NULL};
    case 1:
        return int_cell(number);
    case 2:
        number = random_below(state, 2) == 0 ? number : (int64_t)random_next(state);
        memcpy(&value, &number, sizeof value);
        return float_cell(value);
    default:
        break;
    }
    size_t len = random_below(state, 20);
    for (size_t i = 0; i < len; i++) {
        text[i] = random_below(state, 8) == 0 ? (uint8_t)random_below(state, 256) : 0x80;
    }
    return text_cell((const char *)text, len);
}

START_TEST(order_is_that_of_the_byte_strings)
{
    uint64_t state = 3;
    for (size_t i = 0; i < 300000; i++) {
        uint8_t texts[2][32];
        struct cell a = random_cell(&state, texts[0]);
        struct cell b = random_cell(&state, texts[1]);
        struct image image_a = image_of(&a);
        struct image image_b = image_of(&b);
        ck_assert_int_eq(compare(&a, &b), compare_images(&image_a, &image_b));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("key");
    TCase *tcase = tcase_create("key");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, ints_ascend);
    tcase_add_test(tcase, floats_ascend);
    tcase_add_test(tcase, strings_ascend);
    tcase_add_test(tcase, arrays_and_times);
    tcase_add_test(tcase, order_is_that_of_the_byte_strings);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
