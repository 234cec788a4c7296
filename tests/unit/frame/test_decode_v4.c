// SPDX-License-Identifier: Apache-2.0
/* Version 4: the sample's values, one broken frame for each rule, and counts that lie. */
#include "frame/decode.h"
#include "tests/support/frame_builder.h"
#include "tests/unit/frame/samples.h"
#include "tests/unit/frame/unit.h"

#include <stdio.h>

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

static bool decode_placed(struct placed placed)
{
    return decode_view(placed.bytes, DECODE_V4, &room.room, &view, &err);
}

START_TEST(sample)
{
    struct placed placed = sample_changed(SAMPLE_V4, &(struct change){.hex = ""});
    ck_assert_uint_eq(placed.bytes.len, 184);
    ck_assert_msg(decode_placed(placed), "%s", err.text);
    ck_assert_uint_eq(view.version, 4);
    ck_assert_uint_eq(view.row_count, 2);
    ck_assert_uint_eq(view.column_count, 4);
    const struct column *time = view_role(&view, COLUMN_TIMESTAMP);
    ck_assert(column_int(time, 0) == 1 && column_int(time, 1) == 2);
    const struct column *series = view_role(&view, COLUMN_SERIES);
    ck_assert(series->constant && column_int(series, 0) == 42 && column_int(series, 1) == 42);
    const struct column *tag = view_role(&view, COLUMN_TAG);
    ck_assert(slice_equal(tag->name, slice_str("svc")));
    ck_assert(slice_equal(tag->family, slice_str("default")));
    ck_assert(!column_is_null(tag, 0) && column_is_null(tag, 1) && tag->null_count == 1);
    ck_assert(slice_equal(column_bytes(tag, 0), slice_str("a")));
    const struct column *field = view_role(&view, COLUMN_FIELD);
    ck_assert(column_float(field, 0) == 1.5 && column_is_null(field, 1));
    free(placed.block);
}
END_TEST

START_TEST(every_truncation_is_refused)
{
    uint8_t buf[SAMPLE_MAX];
    size_t len = hex_bytes(SAMPLE_V4, buf, sizeof buf);
    for (size_t cut = 0; cut < len; cut++) {
        struct placed placed = place_bytes(slice_of(buf, cut), 0);
        ck_assert(!decode_placed(placed));
        ck_assert_int_eq(err.code, ERROR_DATA_LOSS);
        free(placed.block);
    }
}
END_TEST

/* Blocks of the sample: column 0 at 16, 1 at 48, 2 at 72 (names 88, validity 104, offsets 112,
 * values 128), 3 at 136 (names 152, validity 160, values 168). */
static const struct change refused[] = {
    {5, 1, "01", "spare header bytes 010000 found, 0 expected"},
    {7, 1, "80", "spare header bytes 000080 found, 0 expected"},
    {8, 176, "01000000 00000000", "1 rows without a column found, 0 expected"},
    {8, 4, "03000000", "column 0: values length 16 found, 24 expected"},
    {8, 4, "ffffffff", "column 0: values length 16 found, 34359738360 expected"},
    {12, 4, "05000000", "column 4: column header: 0 bytes found, 16 (16 padded) expected"},
    {12, 4, "00400000", "column 4: column header: 0 bytes found"},
    {12, 4, "01400000", "16385 columns found, at most 16384 expected"},
    {12, 4, "ffffffff", "4294967295 columns found, at most 16384 expected"},
    {12, 4, "03000000", "48 bytes found after the last column (3 of 3)"},
    {184, 0, "00", "1 bytes found after the last column (4 of 4)"},
    {184, 0, "0000000000000000", "8 bytes found after the last column"},
    {16, 1, "00", "column 0: role 0 found, 1 to 6 expected"},
    {72, 1, "07", "column 2 (default.svc): role 7 found, 1 to 6 expected"},
    {17, 1, "00", "column 0: type 0 found, 1 to 6 expected"},
    {137, 1, "07", "column 3 (v): type 7 found, 1 to 6 expected"},
    {17, 1, "02", "column 0: role timestamp with type float64 found, int64 expected"},
    {73, 1, "06", "column 2 (default.svc): role tag with type field_value found"},
    {137, 1, "05", "column 3 (v): role field with type tag_value found"},
    {72, 1, "06", "column 2 (default.svc): role field with a family of 7 bytes found, none"},
    {18, 1, "04", "column 0: flags 0x04 found, only bits 0 and 1 expected"},
    {74, 1, "81", "column 2 (default.svc): flags 0x81 found"},
    {19, 1, "01", "column 0: spare header byte 0x01 found, 0 expected"},
    {20, 2, "ffff", "column 0: names: 152 bytes found, 65535 (65536 padded) expected"},
    {78, 2, "ffff", "column 2: names: 96 bytes found, 65538 (65544 padded) expected"},
    {98, 1, "01", "column 2: names: non-zero padding found after its 10 bytes"},
    {103, 1, "80", "column 2: names: non-zero padding found after its 10 bytes"},
    {24, 4, "01000000", "column 0: null count 1 found, 0 without validity expected"},
    {80, 4, "02000000", "column 2 (default.svc): null count 2 found; the validity has 1 zero bits"},
    {80, 4, "00000000", "column 2 (default.svc): null count 0 found; the validity has 1 zero bits"},
    {104, 1, "03", "column 2 (default.svc): null count 1 found; the validity has 0 zero bits of 2"},
    {104, 1, "05", "column 2 (default.svc): validity: spare bits set after value 2"},
    {105, 1, "01", "column 2 (default.svc): validity: non-zero padding found after its 1 bytes"},
    {111, 1, "80", "column 2 (default.svc): validity: non-zero padding found after its 1 bytes"},
    {112, 4, "01000000", "column 2 (default.svc): offset 0: 1 found, 0 expected"},
    {112, 4, "ffffffff", "column 2 (default.svc): offset 0: -1 found, 0 expected"},
    {120, 4, "00000000", "column 2 (default.svc): offset 2: 0 found, at least 1 expected"},
    {116, 4, "000000ff", "column 2 (default.svc): offset 1: -16777216 found, at least 0 expected"},
    {116, 8, "ffffff7f ffffffff", "(default.svc): offset 2: -1 found, at least 2147483647"},
    {116, 8, "01000000 02000000", "(default.svc): last offset 2 found, values length 1 expected"},
    {84, 4, "02000000", "column 2 (default.svc): last offset 1 found, values length 2 expected"},
    {124, 4, "01000000", "(default.svc): offsets: non-zero padding found after its 12 bytes"},
    {129, 1, "01", "column 2 (default.svc): values: non-zero padding found after its 1 bytes"},
    {148, 4, "0f000000", "column 3 (v): values length 15 found, 16 expected"},
    {28, 4, "18000000", "column 0: values length 24 found, 16 expected"},
    {12, 172, "01000000 01010000 00000000 00000000 10000000 0000000000000000",
     "column 0: values: 8 bytes found, 16 (16 padded) expected"},
    {12, 172, "01000000 05030100 00000000 01000000 00000000",
     "column 0: validity: 0 bytes found, 1 (8 padded) expected"},
    {12, 172, "01000000 05030000 00000000 00000000 00000000 0000000000000000",
     "column 0: offsets: 8 bytes found, 12 (16 padded) expected"},
    {12, 172, "01000000 05030000 00000000 00000000 05000000 0000000000000000 0500000000000000",
     "column 0: values: 0 bytes found, 5 (8 padded) expected"},
    {8, 176, "00000000 01000000 03010200 00000000 00000000 08000000 2a00000000000000",
     "column 0: a constant found in a frame of 0 rows"},
    {8, 176, "00000000 01000000 01010100 00000000 01000000 00000000",
     "column 0: null count 1 found; the validity has 0 zero bits of 0"},
    {8, 176, "01000002 01000000 03010200 00000000 00000000 08000000 2a00000000000000",
     "column 0: constants that expand to 268435464 bytes found, at most 268435456 expected"},
    {8, 176, "ffffffff 01000000 05040200 00000000 00000000 ffffff7f 00000000ffffff7f",
     "column 0: values: 0 bytes found, 2147483647"},
    {8, 176,
     "01000001 02000000 03010200 00000000 00000000 08000000 2a00000000000000 "
     "05030200 00000000 00000000 00000000 0000000000000000",
     "column 1: constants that expand to 402653208 bytes found"},
};

START_TEST(one_broken_frame_per_rule)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct placed placed = sample_changed(SAMPLE_V4, &refused[i]);
        ck_assert_msg(!decode_placed(placed), "row %zu: %s", i, refused[i].text);
        ck_assert_int_eq(err.code, ERROR_DATA_LOSS);
        ck_assert_msg(strstr(err.text, refused[i].text) != NULL, "row %zu: \"%s\", not \"%s\"", i,
                      err.text, refused[i].text);
        free(placed.block);
    }
}
END_TEST

/* What stands where a null is does not matter. */
START_TEST(values_under_nulls_are_not_looked_at)
{
    struct placed placed = sample_changed(SAMPLE_V4, &(struct change){176, 1, "07", NULL});
    ck_assert_msg(decode_placed(placed), "%s", err.text);
    ck_assert(column_is_null(&view.columns[3], 1));
    free(placed.block);
}
END_TEST

START_TEST(a_decreasing_offset_is_found_at_any_place)
{
    for (size_t rows = 1; rows < 70; rows++) {
        struct frame_builder *builder = frame_builder_new(rows);
        frame_builder_column(builder, COLUMN_TAG, COLUMN_STRING, "", "");
        for (size_t i = 0; i < rows; i++) {
            frame_builder_text(builder, "abc");
        }
        size_t len;
        uint8_t *frame = frame_builder_encode(builder, 4, &len);
        for (size_t i = 1; i < rows; i++) {
            uint32_t wrong = (uint32_t)(3 * i + 4); /* above the next one */
            memcpy(frame + 32 + 4 * i, &wrong, 4);
            ck_assert(!decode_view(slice_of(frame, len), DECODE_V4, &room.room, &view, &err));
            char text[64];
            snprintf(text, sizeof text, "offset %zu: %zu found", i + 1, 3 * i + 3);
            ck_assert_msg(strstr(err.text, text) != NULL, "%s", err.text);
            wrong = (uint32_t)(3 * i);
            memcpy(frame + 32 + 4 * i, &wrong, 4);
        }
        ck_assert(decode_view(slice_of(frame, len), DECODE_V4, &room.room, &view, &err));
        free(frame);
        frame_builder_free(&builder);
    }
}
END_TEST

/* Within the budget a few bytes may stand for many rows; nothing is made of that size. */
START_TEST(constants_are_not_expanded)
{
    struct placed placed = sample_changed(
        SAMPLE_V4, &(struct change){8, 176,
                                    "00000002 01000000 03010200 00000000 00000000 08000000 "
                                    "2a00000000000000",
                                    NULL});
    ck_assert_msg(decode_placed(placed), "%s", err.text);
    ck_assert_uint_eq(view.row_count, 33554432);
    ck_assert_int_eq(column_int(&view.columns[0], 33554431), 42);
    ck_assert_uint_lt(room.bytes, 4096);
    free(placed.block);
}
END_TEST

START_TEST(lies_make_no_large_allocation)
{
    static const struct change lies[] = {
        {8, 4, "ffffffff", NULL},
        {12, 4, "ffffffff", NULL},
        {84, 4, "ffffffff", NULL},
        {8, 8, "ffffffff ffffffff", NULL},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct placed placed = sample_changed(SAMPLE_V4, &lies[i]);
        ck_assert(!decode_placed(placed));
        free(placed.block);
    }
    ck_assert_uint_lt(room.bytes, 16384);
}
END_TEST

START_TEST(no_rows_and_no_columns)
{
    struct placed placed =
        sample_changed(SAMPLE_V4, &(struct change){8, 176, "00000000 00000000", NULL});
    ck_assert_msg(decode_placed(placed), "%s", err.text);
    ck_assert(view.row_count == 0 && view.column_count == 0);
    free(placed.block);
    placed = sample_changed(SAMPLE_V4, &(struct change){8, 176,
                                                        "00000000 01000000 05030000 01000000 "
                                                        "00000000 00000000 6100000000000000 "
                                                        "0000000000000000",
                                                        NULL});
    ck_assert_msg(decode_placed(placed), "%s", err.text);
    ck_assert(view.row_count == 0 && view.column_count == 1);
    free(placed.block);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("decode_v4");
    TCase *tcase = tcase_create("decode_v4");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, sample);
    tcase_add_test(tcase, every_truncation_is_refused);
    tcase_add_test(tcase, one_broken_frame_per_rule);
    tcase_add_test(tcase, values_under_nulls_are_not_looked_at);
    tcase_add_test(tcase, a_decreasing_offset_is_found_at_any_place);
    tcase_add_test(tcase, constants_are_not_expanded);
    tcase_add_test(tcase, lies_make_no_large_allocation);
    tcase_add_test(tcase, no_rows_and_no_columns);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
