// SPDX-License-Identifier: Apache-2.0
/* Cells: what each spelling of a TagValue or FieldValue reads as, and what is refused. */
#include "merge/cell.h"
#include "merge/key.h"
#include "tests/support/frame_random.h"
#include "tests/support/frame_test.h"
#include "tests/unit/frame/unit.h"

enum { TAG = COLUMN_TAG_VALUE, FIELD = COLUMN_FIELD_VALUE };

/* `value`: bytes in hex; for arrays and times those of the variant's message. */
struct spelling {
    int type;
    const char *hex;
    enum cell_kind kind;
    int64_t number;
    const char *value;
    const char *why;
};

static const struct spelling good[] = {
    {TAG, "", CELL_NULL, 0, "", "no variant"},
    {TAG, "0800", CELL_NULL, 0, "", "the null variant"},
    {TAG, "0880808000", CELL_NULL, 0, "", "the null variant, a long zero"},
    {TAG, "1205 0a03 616263", CELL_STRING, 0, "616263", "a string"},
    {TAG, "1202 0a00", CELL_STRING, 0, "", "an empty string, spelled out"},
    {TAG, "1200", CELL_STRING, 0, "", "an empty string, left out"},
    {TAG, "128500 0a03 616263", CELL_STRING, 0, "616263", "a long length"},
    {TAG, "1206 0a8300 616263", CELL_STRING, 0, "616263", "a long inner length"},
    {TAG, "1208 0a03616263 0a0178", CELL_STRING, 0, "78", "a value twice: the last"},
    {TAG, "1207 0a03616263 1000", CELL_STRING, 0, "616263", "an unknown field behind"},
    {TAG, "1207 1000 0a03616263", CELL_STRING, 0, "616263", "an unknown field before"},
    {TAG, "2202 0807", CELL_INT, 7, "", "an int"},
    {TAG, "2200", CELL_INT, 0, "", "a zero, left out"},
    {TAG, "220b 08ffffffffffffffffff01", CELL_INT, -1, "", "an int of ten bytes"},
    {TAG, "2203 088700", CELL_INT, 7, "", "an int in a long form"},
    {TAG, "2204 0807 0809", CELL_INT, 9, "", "an int twice: the last"},
    {TAG, "3203 616263", CELL_BINARY, 0, "616263", "bytes"},
    {TAG, "3200", CELL_BINARY, 0, "", "no bytes"},
    {TAG, "1a06 0a0161 0a0162", CELL_STRINGS, 0, "0a01610a0162", "strings"},
    {TAG, "1a00", CELL_STRINGS, 0, "", "no strings"},
    {TAG, "2a04 0a02 0102", CELL_INTS, 0, "0a020102", "ints, packed"},
    {TAG, "2a04 0801 0802", CELL_INTS, 0, "08010802", "ints, not packed"},
    {TAG, "2a00", CELL_INTS, 0, "", "no ints"},
    {TAG, "3a04 0801 1002", CELL_TIME, 0, "08011002", "a time"},
    {TAG, "3a00", CELL_TIME, 0, "", "the epoch"},
    {TAG, "f20101 78", CELL_NULL, 0, "", "an unknown variant"},
    {TAG, "0b 1801 0c", CELL_NULL, 0, "", "an unknown group"},
    {TAG, "1203 0a0161 2202 0807", CELL_INT, 7, "", "two variants: the last"},
    {TAG, "2202 0807 1203 0a0161", CELL_STRING, 0, "61", "two variants, turned round"},
    {TAG, "1203 0a0161 0800", CELL_NULL, 0, "", "a string, then null"},
    {TAG, "1203 0a0161 f20100", CELL_STRING, 0, "61", "a string, then an unknown one"},
    {TAG, "1a03 0a0161 1203 0a0162", CELL_STRING, 0, "62", "strings, then a string"},
    {TAG, "1a03 0a0161 1a03 0a0162", CELL_STRINGS, 0, "0a0162", "strings twice: the last"},
    {FIELD, "", CELL_NULL, 0, "", "no variant"},
    {FIELD, "0800", CELL_NULL, 0, "", "the null variant"},
    {FIELD, "1205 0a03 616263", CELL_STRING, 0, "616263", "a string"},
    {FIELD, "1a02 0807", CELL_INT, 7, "", "an int"},
    {FIELD, "1a00", CELL_INT, 0, "", "a zero, left out"},
    {FIELD, "2203 616263", CELL_BINARY, 0, "616263", "bytes"},
    {FIELD, "2a09 09 000000000000f83f", CELL_FLOAT, 0, "000000000000f83f", "a float"},
    {FIELD, "2a00", CELL_FLOAT, 0, "0000000000000000", "a zero, left out"},
    {FIELD, "2a8900 09 000000000000f83f", CELL_FLOAT, 0, "000000000000f83f", "a long length"},
    {FIELD, "3200", CELL_NULL, 0, "", "an unknown variant"},
};

static const struct spelling bad[] = {
    {.type = TAG, .hex = "00", .why = "field number 0"},
    {.type = TAG, .hex = "0a00", .why = "null as a message"},
    {.type = TAG, .hex = "1001", .why = "a string as a varint"},
    {.type = TAG, .hex = "1202 0801", .why = "a string's value as a varint"},
    {.type = TAG, .hex = "1203 0a0261", .why = "a string past its message"},
    {.type = TAG, .hex = "1202 0a01", .why = "a string past the cell"},
    {.type = TAG, .hex = "1206 0a03616263", .why = "a message past the cell"},
    {.type = TAG, .hex = "1205 0a0361 6263 00", .why = "a byte left over"},
    {.type = TAG, .hex = "2001", .why = "an int as a varint"},
    {.type = TAG, .hex = "2203 0a0161", .why = "an int's value as bytes"},
    {.type = TAG, .hex = "2202 0880", .why = "an int cut"},
    {.type = TAG, .hex = "220c 08ffffffffffffffffffff01", .why = "an int of 11 bytes"},
    {.type = TAG, .hex = "2203 080700", .why = "a byte behind an int"},
    {.type = TAG, .hex = "3001", .why = "bytes as a varint"},
    {.type = TAG, .hex = "1801", .why = "strings as a varint"},
    {.type = TAG, .hex = "1a02 0801", .why = "a string of an array as a varint"},
    {.type = TAG, .hex = "1a02 0a01", .why = "a string of an array cut"},
    {.type = TAG, .hex = "2a02 0a01", .why = "ints cut"},
    {.type = TAG, .hex = "2a03 0a0180", .why = "an int inside the packed ones cut"},
    {.type = TAG, .hex = "2a09 09 0102030405060708", .why = "an int of an array as fixed64"},
    {.type = TAG, .hex = "2a05 0d 01020304", .why = "an int of an array as fixed32"},
    {.type = TAG, .hex = "3a02 0a00", .why = "seconds as bytes"},
    {.type = TAG, .hex = "3a05 15 01020304", .why = "nanos as fixed32"},
    {.type = TAG, .hex = "3a01 08", .why = "seconds cut"},
    {.type = TAG, .hex = "0c", .why = "an end of no group"},
    {.type = TAG, .hex = "1203 0a0161 1202", .why = "a good variant, then a broken one"},
    {.type = FIELD, .hex = "2a02 0801", .why = "a float's value as a varint"},
    {.type = FIELD, .hex = "2a08 09 00000000000000", .why = "a float cut"},
    {.type = FIELD, .hex = "2900000000000000f8", .why = "a float as fixed64"},
    {.type = FIELD, .hex = "1803", .why = "an int as a varint"},
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Exactly these bytes on the heap, none readable behind them. */
static struct slice exact(struct slice bytes)
{
    uint8_t *copy = malloc(bytes.len > 0 ? bytes.len : 1);
    memcpy(copy, bytes.ptr, bytes.len);
    return slice_of(copy, bytes.len);
}

static bool read_cell(int type, struct slice bytes, struct cell *cell)
{
    const struct column column = {.type = (enum column_type)type, .name = slice_str("c")};
    return cell_read_message(&column, bytes, cell);
}

static void check_cell(const struct spelling *row, const struct cell *cell)
{
    uint8_t buf[64];
    struct slice value = slice_of(buf, hex_bytes(row->value, buf, sizeof buf));
    ck_assert_msg(cell->kind == row->kind, "%s: kind %d", row->why, (int)cell->kind);
    switch (cell->kind) {
    case CELL_NULL:
        return;
    case CELL_INT:
        ck_assert_msg(cell->number.i == row->number, "%s", row->why);
        return;
    case CELL_FLOAT:
        ck_assert_msg(memcmp(&cell->number.f, value.ptr, 8) == 0, "%s", row->why);
        return;
    case CELL_STRING:
    case CELL_BINARY:
        ck_assert_msg(slice_equal(cell->bytes, value), "%s", row->why);
        return;
    case CELL_STRINGS:
    case CELL_INTS:
    case CELL_TIME:
        ck_assert_msg(slice_equal(cell->inner, value), "%s", row->why);
        return;
    }
}

START_TEST(spellings)
{
    for (size_t i = 0; i < COUNT(good); i++) {
        uint8_t buf[64];
        struct slice bytes = exact(slice_of(buf, hex_bytes(good[i].hex, buf, sizeof buf)));
        struct cell cell;
        ck_assert_msg(read_cell(good[i].type, bytes, &cell), "%s", good[i].why);
        check_cell(&good[i], &cell);
        free((void *)(uintptr_t)bytes.ptr);
    }
}
END_TEST

/* What is passed on of an array or a time reads as the same, and holds nothing else. */
START_TEST(what_is_passed_on_reads_the_same)
{
    for (size_t i = 0; i < COUNT(good); i++) {
        uint8_t buf[64];
        struct slice bytes = slice_of(buf, hex_bytes(good[i].hex, buf, sizeof buf));
        struct cell cell;
        ck_assert(read_cell(good[i].type, bytes, &cell));
        if (cell.kind >= CELL_STRINGS) {
            struct cell again;
            ck_assert_msg(read_cell(good[i].type, cell.bytes, &again), "%s", good[i].why);
            check_cell(&good[i], &again);
            ck_assert_uint_eq(cell.bytes.len, 2 + cell.inner.len);
        }
    }
}
END_TEST

START_TEST(malformed)
{
    for (size_t i = 0; i < COUNT(bad); i++) {
        uint8_t buf[64];
        struct slice bytes = exact(slice_of(buf, hex_bytes(bad[i].hex, buf, sizeof buf)));
        struct cell cell;
        ck_assert_msg(!read_cell(bad[i].type, bytes, &cell), "%s", bad[i].why);
        free((void *)(uintptr_t)bytes.ptr);
    }
}
END_TEST

/* Everything that follows from a cell is looked at: a sanitizer sees a byte read too far. */
static void use(const struct cell *cell)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    struct key key = key_of_cell(cell, &arena);
    ck_assert_int_eq(key_compare(&key, &key), 0);
    arena_fini(&arena);
}

START_TEST(truncations_are_not_read_past)
{
    for (size_t i = 0; i < COUNT(good); i++) {
        uint8_t buf[64];
        size_t len = hex_bytes(good[i].hex, buf, sizeof buf);
        for (size_t cut = 0; cut <= len; cut++) {
            struct slice bytes = exact(slice_of(buf, cut));
            struct cell cell;
            if (read_cell(good[i].type, bytes, &cell)) {
                use(&cell);
            }
            free((void *)(uintptr_t)bytes.ptr);
        }
    }
}
END_TEST

START_TEST(random_bytes_are_not_read_past)
{
    uint64_t state = 11;
    for (size_t i = 0; i < 200000; i++) {
        uint8_t buf[64];
        const struct spelling *row = &good[random_below(&state, COUNT(good))];
        size_t len = hex_bytes(row->hex, buf, sizeof buf);
        for (size_t k = random_below(&state, 3); len > 0 && k > 0; k--) {
            buf[random_below(&state, len)] = (uint8_t)random_next(&state);
        }
        struct slice bytes = exact(slice_of(buf, len));
        struct cell cell;
        if (read_cell(row->type, bytes, &cell)) {
            use(&cell);
        }
        free((void *)(uintptr_t)bytes.ptr);
    }
}
END_TEST

/* The glance at short spellings and the walk agree: an empty unknown group in front changes
 * nothing but the way that is taken. */
START_TEST(both_ways_of_reading_agree)
{
    for (size_t len = 0; len < 300; len++) {
        uint8_t buf[400] = {0x0b, 0x0c}; /* the group */
        size_t head = 2;
        size_t wrapper = len + (len < 0x80 ? 2 : 3);
        buf[head++] = 2 << 3 | 2;
        if (wrapper >= 0x80) {
            buf[head++] = (uint8_t)(wrapper | 0x80);
        }
        buf[head++] = (uint8_t)(wrapper >= 0x80 ? wrapper >> 7 : wrapper);
        buf[head++] = 1 << 3 | 2;
        if (len >= 0x80) {
            buf[head++] = (uint8_t)(len | 0x80);
        }
        buf[head++] = (uint8_t)(len >= 0x80 ? len >> 7 : len);
        memset(buf + head, 'x', len);
        struct cell walked;
        struct cell glanced;
        ck_assert(read_cell(TAG, slice_of(buf, head + len), &walked));
        ck_assert(read_cell(TAG, slice_of(buf + 2, head + len - 2), &glanced));
        ck_assert_int_eq(walked.kind, CELL_STRING);
        ck_assert_int_eq(glanced.kind, CELL_STRING);
        ck_assert_uint_eq(walked.bytes.len, len);
        ck_assert(slice_equal(walked.bytes, glanced.bytes));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cell");
    TCase *tcase = tcase_create("cell");
    tcase_add_test(tcase, spellings);
    tcase_add_test(tcase, what_is_passed_on_reads_the_same);
    tcase_add_test(tcase, malformed);
    tcase_add_test(tcase, truncations_are_not_read_past);
    tcase_add_test(tcase, random_bytes_are_not_read_past);
    tcase_add_test(tcase, both_ways_of_reading_agree);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
