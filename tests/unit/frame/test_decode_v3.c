// SPDX-License-Identifier: Apache-2.0
/* Version 3: the sample's values, one broken frame for each rule, lengths of every size. */
#include "frame/decode.h"
#include "tests/support/frame_builder.h"
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

static bool decode_placed(struct placed placed)
{
    return decode_view(placed.bytes, DECODE_V3, &room.room, &view, &err);
}

START_TEST(sample)
{
    struct placed placed = sample_changed(SAMPLE_V3, &(struct change){.hex = ""});
    ck_assert_uint_eq(placed.bytes.len, 135);
    ck_assert_msg(decode_placed(placed), "%s", err.text);
    ck_assert(view.version == 3 && view.row_count == 2 && view.column_count == 6);
    const struct column *time = view_role(&view, COLUMN_TIMESTAMP);
    ck_assert_int_eq(column_int(time, 0), 1700000000000000000);
    ck_assert_int_eq(column_int(time, 1), 1700000060000000000);
    ck_assert_ptr_null(time->validity);
    ck_assert_int_eq(column_int(view_role(&view, COLUMN_VERSION), 1), 1);
    ck_assert_int_eq(column_int(view_role(&view, COLUMN_SERIES), 1), 42);
    ck_assert_int_eq(column_int(view_role(&view, COLUMN_SHARD), 1), 0);
    const struct column *tag = view_role(&view, COLUMN_TAG);
    ck_assert(slice_equal(tag->name, slice_str("svc")));
    ck_assert(slice_equal(tag->family, slice_str("default")));
    ck_assert(slice_equal(column_bytes(tag, 0), slice_str("a")));
    ck_assert(!column_is_null(tag, 0) && column_is_null(tag, 1));
    ck_assert_uint_eq(tag->null_count, 1);
    ck_assert_uint_eq(tag->validity[0], 1); /* turned round, spare bits 0 */
    const struct column *field = view_role(&view, COLUMN_FIELD);
    ck_assert(column_int(field, 0) == 7 && column_int(field, 1) == 9);
    free(placed.block);
}
END_TEST

START_TEST(every_truncation_is_refused)
{
    uint8_t buf[SAMPLE_MAX];
    size_t len = hex_bytes(SAMPLE_V3, buf, sizeof buf);
    for (size_t cut = 0; cut < len; cut++) {
        struct placed placed = place_bytes(slice_of(buf, cut), 0);
        ck_assert(!decode_placed(placed));
        ck_assert_int_eq(err.code, ERROR_DATA_LOSS);
        free(placed.block);
    }
}
END_TEST

/* Columns of the sample: 0 at 7 (bitmap 11), 4 at 91 (name 93, family 97, bitmap 105, lengths 106
 * and 108), 5 at 109 (name 111, bitmap 118, values 119). */
static const struct change refused[] = {
    {5, 130, "00", "frame of 6 bytes found, 7 to 4294967295 expected"},
    {5, 1, "8101", "column 0: null bitmap: spare bits"},
    {5, 1, "ac02", "300 rows found, at most the frame's 136 bytes expected"},
    {5, 1, "ffffffffffffffffff01", "18446744073709551615 rows found, at most the frame's 144"},
    {5, 1, "ffffffffffffffffff02", "row count: no uvarint of at most 64 bits found"},
    {5, 1, "8200", "row count: 2 found in 2 bytes, fewer expected"},
    {6, 1, "8600", "column count: 6 found in 2 bytes, fewer expected"},
    {6, 1, "7f", "127 columns found in the 128 bytes left, 4 bytes for each expected"},
    {6, 1, "ffffffff0f", "4294967295 columns found in the 128 bytes left"},
    {5, 130, "0200", "2 rows without a column found, 0 expected"},
    {6, 1, "07", "column 6: role and type expected, the end of the frame found"},
    {6, 1, "05", "26 bytes found after the last column (5 of 5)"},
    {135, 0, "00", "1 bytes found after the last column (6 of 6)"},
    {7, 1, "00", "column 0: role 0 found, 1 to 6 expected"},
    {91, 1, "07", "column 4 (default.svc): role 7 found, 1 to 6 expected"},
    {8, 1, "07", "column 0: type 7 found, 1 to 6 expected"},
    {8, 1, "02", "column 0: role timestamp with type float64 found, int64 expected"},
    {92, 1, "06", "column 4 (default.svc): role tag with type field_value found"},
    {110, 1, "05", "column 5 (total): role field with type tag_value found"},
    {91, 1, "06", "column 4 (default.svc): role field with a family of 7 bytes found"},
    {93, 1, "7f", "column 4: name: 41 bytes found, 127 expected"},
    {93, 1, "8300", "column 4: name: 3 found in 2 bytes, fewer expected"},
    {97, 1, "7f", "column 4 (svc): family: 37 bytes found, 127 expected"},
    {105, 1, "04", "column 4 (default.svc): null bitmap: spare bits set after row 2"},
    {105, 30, "", "column 4 (default.svc): null bitmap: 0 bytes found, 1 expected"},
    {106, 1, "7f", "column 4 (default.svc): row 0: no length in its shortest form"},
    {108, 1, "1c", "column 4 (default.svc): row 1: no length in its shortest form"},
    {106, 1, "8100", "column 4 (default.svc): row 0: no length in its shortest form"},
    {106, 1, "818000", "column 4 (default.svc): row 0: no length in its shortest form"},
    {106, 1, "ffffffffffffffffff01", "column 4 (default.svc): row 0: no length in its shortest"},
    {106, 29, "01", "column 4 (default.svc): values: 1 bytes found, 2 lengths expected"},
    {107, 28, "61", "column 4 (default.svc): row 1: no length in its shortest"},
    {106, 29, "0080", "column 4 (default.svc): row 1: no length in its shortest"},
    {106, 29, "00ff80", "column 4 (default.svc): row 1: no length in its shortest"},
    {127, 8, "", "column 5 (total): values: 8 bytes found, 16 expected"},
};

START_TEST(one_broken_frame_per_rule)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct placed placed = sample_changed(SAMPLE_V3, &refused[i]);
        ck_assert_msg(!decode_placed(placed), "row %zu: %s", i, refused[i].text);
        ck_assert_int_eq(err.code, ERROR_DATA_LOSS);
        ck_assert_msg(strstr(err.text, refused[i].text) != NULL, "row %zu: \"%s\", not \"%s\"", i,
                      err.text, refused[i].text);
        free(placed.block);
    }
}
END_TEST

/* Lengths of one, two, three and four bytes, each at the very end of a frame as well. */
START_TEST(lengths_of_every_size)
{
    static const size_t lens[] = {0,     1,     2,     127,     128,     129,    255,
                                  16383, 16384, 16385, 2097151, 2097152, 3000000};
    static uint8_t text[3000000];
    memset(text, 'z', sizeof text);
    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        struct frame_builder *builder = frame_builder_new(2);
        frame_builder_column(builder, COLUMN_TAG, COLUMN_BYTES, "f", "n");
        frame_builder_bytes(builder, slice_of(text, lens[i]));
        frame_builder_bytes(builder, slice_of(text, lens[i]));
        size_t len;
        uint8_t *frame = frame_builder_encode(builder, 3, &len);
        struct placed placed = place_bytes(slice_of(frame, len), 1);
        ck_assert_msg(decode_placed(placed), "length %zu: %s", lens[i], err.text);
        ck_assert(slice_equal(column_bytes(&view.columns[0], 0), slice_of(text, lens[i])));
        ck_assert(slice_equal(column_bytes(&view.columns[0], 1), slice_of(text, lens[i])));
        ck_assert(column_bytes(&view.columns[0], 1).ptr + lens[i] ==
                  placed.bytes.ptr + placed.bytes.len);
        free(placed.block);
        frame[len - 1 - lens[i]] ^= 0x40; /* another last length */
        placed = place_bytes(slice_of(frame, len), 1);
        ck_assert(!decode_placed(placed));
        free(placed.block);
        free(frame);
        frame_builder_free(&builder);
    }
}
END_TEST

START_TEST(lies_make_no_large_allocation)
{
    /* a frame of 1 MB whose counts say as much as they may */
    static uint8_t frame[1 << 20] = {0, 'V', 'F', 'R', 3};
    uint8_t rows[] = {0xF0, 0xFF, 0x3F}; /* just below 2^20 */
    memcpy(frame + 5, rows, 3);
    memcpy(frame + 8, (uint8_t[]){0xF0, 0xFF, 0x0F}, 3); /* 2^18 columns */
    memcpy(frame + 11, (uint8_t[]){5, 3, 0, 0}, 4);
    ck_assert(!decode_view(slice_of(frame, sizeof frame - 16), DECODE_V3, &room.room, &view, &err));
    ck_assert_uint_lt(room.bytes, 16384);
}
END_TEST

START_TEST(no_rows_and_no_columns)
{
    struct placed placed = sample_changed(SAMPLE_V3, &(struct change){5, 130, "0000", NULL});
    ck_assert_msg(decode_placed(placed), "%s", err.text);
    ck_assert(view.row_count == 0 && view.column_count == 0);
    free(placed.block);
    placed = sample_changed(SAMPLE_V3, &(struct change){5, 130, "0001 05030000", NULL});
    ck_assert_msg(decode_placed(placed), "%s", err.text);
    ck_assert(view.row_count == 0 && view.column_count == 1);
    free(placed.block);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("decode_v3");
    TCase *tcase = tcase_create("decode_v3");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, sample);
    tcase_add_test(tcase, every_truncation_is_refused);
    tcase_add_test(tcase, one_broken_frame_per_rule);
    tcase_add_test(tcase, lengths_of_every_size);
    tcase_add_test(tcase, lies_make_no_large_allocation);
    tcase_add_test(tcase, no_rows_and_no_columns);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
