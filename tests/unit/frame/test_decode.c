// SPDX-License-Identifier: Apache-2.0
/* What both layouts share: magic, versions and the words of the rule, alignment, kinds, counting.
 */
#include "frame/decode.h"
#include "frame/decode_layout.h"
#include "tests/support/frame_builder.h"
#include "tests/support/frame_random.h"
#include "tests/unit/frame/samples.h"
#include "tests/unit/frame/unit.h"

static struct test_room room;
static struct view view;
static struct error err;

static void setup(void)
{
    test_room_init(&room);
    err = (struct error){0};
}

static void teardown(void)
{
    test_room_fini(&room);
}

static bool decode_hex(const char *hex, unsigned accepted)
{
    uint8_t buf[SAMPLE_MAX];
    struct placed placed = place_bytes(slice_of(buf, hex_bytes(hex, buf, sizeof buf)), 0);
    bool good = decode_view(placed.bytes, accepted, &room.room, &view, &err);
    free(placed.block);
    return good;
}

START_TEST(versions)
{
    static const struct {
        const char *hex;
        unsigned accepted;
        const char *text; /* NULL: accepted */
        bool flag_named;
    } table[] = {
        {SAMPLE_V4, DECODE_V4, NULL, false},
        {SAMPLE_V4, DECODE_V3 | DECODE_V4, NULL, false},
        {SAMPLE_V3, DECODE_V3, NULL, false},
        {SAMPLE_V3, DECODE_V3 | DECODE_V4, NULL, false},
        {SAMPLE_V3, DECODE_V4, "version 3 found, 4 expected", true},
        {SAMPLE_V4, DECODE_V3, "version 4 found, 3 expected", false},
        {"00564652 05", DECODE_V4, "version 5 found, 4 expected", false},
        {"00564652 00", DECODE_V3 | DECODE_V4, "version 0 found, 3 or 4 expected", false},
        {"00564652 ff", DECODE_V3 | DECODE_V4, "version 255 found, 3 or 4 expected", false},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        err = (struct error){0};
        bool good = decode_hex(table[i].hex, table[i].accepted);
        ck_assert_msg(good == (table[i].text == NULL), "row %zu: %s", i, err.text);
        if (!good) {
            ck_assert_int_eq(err.code, ERROR_FAILED_PRECONDITION);
            ck_assert_msg(strstr(err.text, table[i].text) != NULL, "%s", err.text);
            ck_assert(strstr(err.text, "not upgraded as a whole (stop every node, start the new "
                                       "binary everywhere)") != NULL);
            ck_assert((strstr(err.text, "--measure-frame-versions=3,4") != NULL) ==
                      table[i].flag_named);
        }
    }
}
END_TEST

START_TEST(starts)
{
    static const struct {
        const char *hex;
        const char *text;
    } table[] = {
        {"", "frame of 0 bytes found, at least the 5"},
        {"00564652", "frame of 4 bytes found, at least the 5"},
        {"01564652 04", "magic 01564652 found, 00564652 expected"},
        {"00564653 04", "magic 00564653 found, 00564652 expected"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert(!decode_hex(table[i].hex, DECODE_V3 | DECODE_V4));
        ck_assert_int_eq(err.code, ERROR_DATA_LOSS);
        ck_assert_msg(strstr(err.text, table[i].text) != NULL, "%s", err.text);
    }
}
END_TEST

START_TEST(a_refused_view_is_empty)
{
    ck_assert(!decode_hex(SAMPLE_V4 " 00", DECODE_V4));
    ck_assert(view.column_count == 0 && view.columns == NULL && view.row_count == 0);
    ck_assert(!decode_view((struct slice){0}, DECODE_V4, &room.room, &view, NULL));
}
END_TEST

/* An aligned frame is used where it lies; any other is copied once. */
START_TEST(alignment)
{
    uint8_t buf[SAMPLE_MAX];
    size_t len = hex_bytes(SAMPLE_V4, buf, sizeof buf);
    for (size_t shift = 0; shift < 9; shift++) {
        test_room_fini(&room);
        test_room_init(&room);
        struct placed placed = place_bytes(slice_of(buf, len), shift);
        ck_assert(decode_view(placed.bytes, DECODE_V4, &room.room, &view, &err));
        ck_assert_uint_eq(room.count, shift % 8 == 0 ? 1 : 2); /* the columns; the copy */
        bool in_place = view.columns[0].values == placed.bytes.ptr + 32;
        ck_assert(in_place == (shift % 8 == 0));
        ck_assert_int_eq(column_int(&view.columns[0], 1), 2);
        (void)view_read_all(&view);
        free(placed.block);
    }
}
END_TEST

START_TEST(kinds)
{
    struct column column = {0};
    ck_assert(!decode_kind(&column, 7, 1, &err));
    ck_assert_str_eq(err.text, "role 7 found, 1 to 6 expected");
    ck_assert(!decode_kind(&column, 1, 0, &err));
    ck_assert_str_eq(err.text, "type 0 found, 1 to 6 expected");
    ck_assert(!decode_kind(&column, COLUMN_SERIES, COLUMN_FLOAT64, &err));
    ck_assert_str_eq(err.text, "role series_id with type float64 found, int64 expected");
    ck_assert(!decode_kind(&column, COLUMN_TAG, COLUMN_FIELD_VALUE, &err));
    ck_assert_str_eq(err.text, "role tag with type field_value found, a type but field_value "
                               "expected");
    ck_assert(!decode_kind(&column, COLUMN_FIELD, COLUMN_TAG_VALUE, &err));
    column.family = slice_str("fam");
    ck_assert(!decode_kind(&column, COLUMN_FIELD, COLUMN_INT64, &err));
    ck_assert_str_eq(err.text, "role field with a family of 3 bytes found, none expected");
    ck_assert(decode_kind(&column, COLUMN_TAG, COLUMN_BYTES, &err));
    ck_assert(column.role == COLUMN_TAG && column.type == COLUMN_BYTES);
}
END_TEST

START_TEST(blame)
{
    struct column column = {0};
    error_set(&err, ERROR_DATA_LOSS, "no");
    ck_assert(!decode_blame(&err, 3, &column));
    ck_assert_str_eq(err.text, "column 3: no");
    column.name = slice_str("v");
    error_set(&err, ERROR_DATA_LOSS, "no");
    decode_blame(&err, 3, &column);
    ck_assert_str_eq(err.text, "column 3 (v): no");
    column.family = slice_str("default");
    error_set(&err, ERROR_DATA_LOSS, "no");
    decode_blame(&err, 3, &column);
    ck_assert_str_eq(err.text, "column 3 (default.v): no");
    char name[300];
    memset(name, 'n', sizeof name);
    memcpy(name, "a\n\xff\0", 4);
    column.name = slice_of(name, sizeof name);
    error_set(&err, ERROR_DATA_LOSS, "no");
    decode_blame(&err, 3, &column);
    ck_assert(strncmp(err.text, "column 3 (default.a???nnnn", 26) == 0);
    ck_assert_uint_eq(strlen(err.text), strlen("column 3 (default.): no") + 100);
}
END_TEST

START_TEST(ones)
{
    uint64_t seed = 11;
    uint8_t bits[600];
    for (size_t round = 0; round < 2000; round++) {
        size_t count = random_below(&seed, 8 * sizeof bits - 64);
        size_t expected = 0;
        for (size_t i = 0; i < sizeof bits; i++) {
            bits[i] = (uint8_t)random_next(&seed);
        }
        for (size_t i = 0; i < count; i++) {
            expected += bits[i / 8] >> i % 8 & 1;
        }
        struct decode decode = {.bits = bits};
        for (bool all = false; !all;) {
            size_t left = 1 + random_below(&seed, 2);
            all = decode_count(&decode, count, &left);
        }
        ck_assert_uint_eq(decode.ones, expected);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("decode");
    TCase *tcase = tcase_create("decode");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, versions);
    tcase_add_test(tcase, starts);
    tcase_add_test(tcase, a_refused_view_is_empty);
    tcase_add_test(tcase, alignment);
    tcase_add_test(tcase, kinds);
    tcase_add_test(tcase, blame);
    tcase_add_test(tcase, ones);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
