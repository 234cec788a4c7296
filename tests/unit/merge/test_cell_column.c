// SPDX-License-Identifier: Apache-2.0
/* Cells of columns: all types, the four spellings of null, what is kept, what a malformed one says.
 */
#include "merge/cell.h"
#include "tests/support/frame_builder.h"
#include "tests/support/frame_test.h"
#include "tests/unit/frame/unit.h"

struct fixture {
    struct test_room room;
    uint8_t *bytes; /* own */
    struct view view;
};

static void decode(struct fixture *fixture, struct frame_builder *builder, unsigned version)
{
    struct error err;
    size_t len;
    test_room_init(&fixture->room);
    fixture->bytes = frame_builder_encode(builder, version, &len);
    ck_assert_msg(decode_view(slice_of(fixture->bytes, len), DECODE_V3 | DECODE_V4,
                              &fixture->room.room, &fixture->view, &err),
                  "%s", err.text);
}

static void release(struct fixture *fixture)
{
    free(fixture->bytes);
    test_room_fini(&fixture->room);
}

/* Each column holds a value in row 0 and a null in row 1. */
static struct frame_builder *all_types(void)
{
    struct frame_builder *builder = frame_builder_new(2);
    frame_builder_column(builder, COLUMN_FIELD, COLUMN_INT64, NULL, "int");
    frame_builder_int(builder, -5);
    frame_builder_null(builder);
    frame_builder_column(builder, COLUMN_FIELD, COLUMN_FLOAT64, NULL, "float");
    frame_builder_float(builder, 1.5);
    frame_builder_null(builder);
    frame_builder_column(builder, COLUMN_TAG, COLUMN_STRING, "f", "string");
    frame_builder_text(builder, "abc");
    frame_builder_null(builder);
    frame_builder_column(builder, COLUMN_TAG, COLUMN_BYTES, "f", "bytes");
    frame_builder_bytes(builder, slice_of("\0\xFF", 2));
    frame_builder_null(builder);
    frame_builder_column(builder, COLUMN_TAG, COLUMN_TAG_VALUE, "f", "null bit");
    frame_builder_bytes(builder, slice_of("\x12\x03\x0a\x01x", 5));
    frame_builder_null(builder);
    frame_builder_column(builder, COLUMN_TAG, COLUMN_TAG_VALUE, "f", "null variant");
    frame_builder_bytes(builder, slice_of("\x22\x02\x08\x07", 4));
    frame_builder_bytes(builder, slice_of("\x08\x00", 2));
    frame_builder_column(builder, COLUMN_FIELD, COLUMN_FIELD_VALUE, NULL, "empty message");
    frame_builder_bytes(builder, slice_of("\x1a\x02\x08\x09", 4));
    frame_builder_bytes(builder, slice_of("", 0));
    return builder;
}

START_TEST(types_and_nulls)
{
    for (unsigned version = 3; version <= 4; version++) {
        struct fixture fixture;
        struct frame_builder *builder = all_types();
        decode(&fixture, builder, version);
        static const enum cell_kind kinds[] = {CELL_INT,    CELL_FLOAT, CELL_STRING, CELL_BINARY,
                                               CELL_STRING, CELL_INT,   CELL_INT};
        struct cell cells[7];
        struct cell cell;
        for (size_t i = 0; i < 7; i++) {
            ck_assert(cell_read(&fixture.view.columns[i], 0, &cells[i], NULL));
            ck_assert_int_eq(cells[i].kind, kinds[i]);
            ck_assert(cell_read(&fixture.view.columns[i], 1, &cell, NULL));
            ck_assert_int_eq(cell.kind, CELL_NULL);
        }
        ck_assert_int_eq(cells[0].number.i, -5);
        ck_assert(cells[1].number.f == 1.5);
        ck_assert(slice_equal(cells[2].bytes, slice_str("abc")));
        ck_assert(slice_equal(cells[3].bytes, slice_of("\0\xFF", 2)));
        ck_assert(slice_equal(cells[4].bytes, slice_str("x")));
        ck_assert_int_eq(cells[5].number.i, 7);
        ck_assert_int_eq(cells[6].number.i, 9);
        frame_builder_free(&builder);
        release(&fixture);
    }
}
END_TEST

START_TEST(a_malformed_cell_is_named)
{
    struct fixture fixture;
    struct frame_builder *builder = frame_builder_new(3);
    frame_builder_column(builder, COLUMN_TAG, COLUMN_TAG_VALUE, "f", "layer");
    frame_builder_bytes(builder, slice_of("\x12\x00", 2));
    frame_builder_bytes(builder, slice_of("\x12\x05", 2));
    frame_builder_null(builder);
    decode(&fixture, builder, 4);
    struct cell cell;
    struct error err = {0};
    ck_assert(cell_read(&fixture.view.columns[0], 0, &cell, &err));
    ck_assert(!cell_read(&fixture.view.columns[0], 1, &cell, &err));
    ck_assert_int_eq(err.code, ERROR_DATA_LOSS);
    ck_assert_str_eq(err.text, "column \"layer\" row 1: its tag_value cell is not a well-formed "
                               "protobuf message");
    ck_assert(!cell_read(&fixture.view.columns[0], 1, &cell, NULL));
    frame_builder_free(&builder);
    release(&fixture);
}
END_TEST

START_TEST(kept_cells_outlive_their_bytes)
{
    static const char *const hex[] = {
        "",
        "1205 0a03 616263",
        "1200",
        "2202 0807",
        "3203 616263",
        "1a06 0a0161 0a0162",
        "2a04 0a02 0102",
        "3a04 0801 1002",
        "1a00",
        "0b0c 3a02 0801 f20100",
    };
    const struct column column = {.type = COLUMN_TAG_VALUE};
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    for (size_t i = 0; i < sizeof hex / sizeof *hex; i++) {
        uint8_t buf[64];
        uint8_t same[64];
        struct placed placed = place_bytes(slice_of(buf, hex_bytes(hex[i], buf, 64)), 3);
        struct cell wanted;
        struct cell cell;
        memcpy(same, buf, sizeof same);
        ck_assert(cell_read_message(&column, slice_of(same, placed.bytes.len), &wanted));
        ck_assert(cell_read_message(&column, placed.bytes, &cell));
        struct cell kept = cell_keep(&arena, &cell);
        memset(placed.block, 0xDB, 3 + placed.bytes.len);
        free(placed.block);
        ck_assert_int_eq(kept.kind, wanted.kind);
        if (kept.kind == CELL_INT) {
            ck_assert_int_eq(kept.number.i, wanted.number.i);
        } else if (kept.kind != CELL_NULL) {
            ck_assert(slice_equal(kept.bytes, wanted.bytes));
        }
        if (kept.kind >= CELL_STRINGS) {
            ck_assert(slice_equal(kept.inner, wanted.inner));
            ck_assert(kept.inner.ptr >= kept.bytes.ptr);
        }
    }
    arena_fini(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cell_column");
    TCase *tcase = tcase_create("cell_column");
    tcase_add_test(tcase, types_and_nulls);
    tcase_add_test(tcase, a_malformed_cell_is_named);
    tcase_add_test(tcase, kept_cells_outlive_their_bytes);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
