// SPDX-License-Identifier: Apache-2.0
/*
 * Rows → bytes. protobuf-c is the oracle: what it packs from a tree of messages made of the same
 * rows has to be what was written, to the byte, and what was written has to unpack.
 */
#include "frame/chain.h"
#include "proto/response.h"
#include "proto/trace.h"
#include "tests/support/frame_random.h"
#include "tests/support/frame_test.h"
#include "tests/unit/frame/unit.h"
#include "tests/unit/proto/sample.h"

#include <math.h>

typedef Banyandb__Measure__V1__QueryResponse query_response;
typedef Banyandb__Measure__V1__DataPoint data_point;
typedef Banyandb__Measure__V1__DataPoint__Field point_field;
typedef Banyandb__Model__V1__TagFamily tag_family;
typedef Banyandb__Model__V1__TagValue tag_value;
typedef Banyandb__Model__V1__FieldValue field_value;

#define NEW(type, init)                                                                            \
    __extension__({                                                                                \
        type *made_ = arena_zalloc(&arena, sizeof(type), 16);                                      \
        init(made_);                                                                               \
        made_;                                                                                     \
    })

#define ROW(time, at, newest, sid, values)                                                         \
    ((struct row){.has_time = (time),                                                              \
                  .timestamp = (at),                                                               \
                  .version = (newest),                                                             \
                  .series = (sid),                                                                 \
                  .cells = (values)})

static struct arena arena;
static struct chain chain;
static struct response response;
static struct error err;

static void set_up(void)
{
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    chain_init(&chain, NULL);
    response_init(&response, &chain, SIZE_MAX, &arena);
}

static void tear_down(void)
{
    chain_fini(&chain);
    arena_fini(&arena);
}

/* ---------------------------------------------------------------- the oracle */

static char *text_of(struct slice text)
{
    return arena_strdup(&arena, text);
}

static ProtobufCBinaryData binary_of(struct slice bytes)
{
    return (ProtobufCBinaryData){.len = bytes.len, .data = (uint8_t *)(uintptr_t)bytes.ptr};
}

static tag_value *tag_value_of(const struct cell *cell)
{
    tag_value *value = NEW(tag_value, banyandb__model__v1__tag_value__init);
    switch (cell->kind) {
    case CELL_NULL:
        value->value_case = BANYANDB__MODEL__V1__TAG_VALUE__VALUE_NULL;
        break;
    case CELL_INT:
        value->value_case = BANYANDB__MODEL__V1__TAG_VALUE__VALUE_INT;
        value->int_ = NEW(Banyandb__Model__V1__Int, banyandb__model__v1__int__init);
        value->int_->value = cell->number.i;
        break;
    case CELL_STRING:
        value->value_case = BANYANDB__MODEL__V1__TAG_VALUE__VALUE_STR;
        value->str = NEW(Banyandb__Model__V1__Str, banyandb__model__v1__str__init);
        value->str->value = text_of(cell->bytes);
        break;
    case CELL_BINARY:
        value->value_case = BANYANDB__MODEL__V1__TAG_VALUE__VALUE_BINARY_DATA;
        value->binary_data = binary_of(cell->bytes);
        break;
    case CELL_STRINGS:
    case CELL_INTS:
    case CELL_TIME:
        return banyandb__model__v1__tag_value__unpack(NULL, cell->bytes.len, cell->bytes.ptr);
    case CELL_FLOAT:
        ck_abort_msg("no tag is a float");
    }
    return value;
}

static field_value *field_value_of(const struct cell *cell)
{
    field_value *value = NEW(field_value, banyandb__model__v1__field_value__init);
    switch (cell->kind) {
    case CELL_NULL:
        value->value_case = BANYANDB__MODEL__V1__FIELD_VALUE__VALUE_NULL;
        break;
    case CELL_INT:
        value->value_case = BANYANDB__MODEL__V1__FIELD_VALUE__VALUE_INT;
        value->int_ = NEW(Banyandb__Model__V1__Int, banyandb__model__v1__int__init);
        value->int_->value = cell->number.i;
        break;
    case CELL_FLOAT:
        value->value_case = BANYANDB__MODEL__V1__FIELD_VALUE__VALUE_FLOAT;
        value->float_ = NEW(Banyandb__Model__V1__Float, banyandb__model__v1__float__init);
        value->float_->value = cell->number.f;
        break;
    case CELL_STRING:
        value->value_case = BANYANDB__MODEL__V1__FIELD_VALUE__VALUE_STR;
        value->str = NEW(Banyandb__Model__V1__Str, banyandb__model__v1__str__init);
        value->str->value = text_of(cell->bytes);
        break;
    case CELL_BINARY:
        value->value_case = BANYANDB__MODEL__V1__FIELD_VALUE__VALUE_BINARY_DATA;
        value->binary_data = binary_of(cell->bytes);
        break;
    case CELL_STRINGS:
    case CELL_INTS:
    case CELL_TIME:
        ck_abort_msg("no field is an array");
    }
    return value;
}

static tag_family *family_of(data_point *point, struct slice name)
{
    for (size_t i = 0; i < point->n_tag_families; i++) {
        if (slice_equal(slice_str(point->tag_families[i]->name), name)) {
            return point->tag_families[i];
        }
    }
    tag_family *family = NEW(tag_family, banyandb__model__v1__tag_family__init);
    family->name = text_of(name);
    family->tags = arena_array(&arena, Banyandb__Model__V1__Tag *, 64);
    point->tag_families[point->n_tag_families++] = family;
    return family;
}

static void add_tag(data_point *point, const struct layout_column *column, const struct cell *cell)
{
    tag_family *family = family_of(point, column->family);
    Banyandb__Model__V1__Tag *tag = NEW(Banyandb__Model__V1__Tag, banyandb__model__v1__tag__init);
    tag->key = text_of(column->name);
    tag->value = tag_value_of(cell);
    family->tags[family->n_tags++] = tag;
}

static void add_field(data_point *point, const struct layout_column *column,
                      const struct cell *cell)
{
    point_field *field = NEW(point_field, banyandb__measure__v1__data_point__field__init);
    field->name = text_of(column->name);
    field->value = field_value_of(cell);
    point->fields[point->n_fields++] = field;
}

static data_point *point_of(const struct layout *layout, const struct row *row)
{
    data_point *point = NEW(data_point, banyandb__measure__v1__data_point__init);
    point->tag_families = arena_array(&arena, tag_family *, 64);
    point->fields = arena_array(&arena, point_field *, 64);
    if (row->has_time) {
        point->timestamp = NEW(Google__Protobuf__Timestamp, google__protobuf__timestamp__init);
        int64_t nanos = row->timestamp % 1000000000;
        point->timestamp->seconds = row->timestamp / 1000000000 - (nanos < 0);
        point->timestamp->nanos = (int32_t)(nanos < 0 ? nanos + 1000000000 : nanos);
    }
    for (size_t i = 0; i < layout->tag_count + layout->field_count; i++) {
        if (!layout->columns[i].hidden && i < layout->tag_count) {
            add_tag(point, &layout->columns[i], &row->cells[i]);
        } else if (!layout->columns[i].hidden) {
            add_field(point, &layout->columns[i], &row->cells[i]);
        }
    }
    point->sid = row->series;
    point->version = row->version;
    return point;
}

static struct slice written(void)
{
    uint8_t *bytes = arena_alloc(&arena, chain.len, 1);
    size_t at = 0;
    for (const struct chain_block *block = chain.first; block != NULL; block = block->next) {
        memcpy(bytes + at, block->bytes + block->begin, block->len);
        at += block->len;
    }
    ck_assert_uint_eq(at, chain.len);
    return slice_of(bytes, at);
}

static void write_row(const struct row *row)
{
    bool ok = response.sink.row(&response.sink, row, &err);
    ck_assert_msg(ok, "%s", err.text);
}

/* Writes the rows and compares with what protobuf-c makes of them. */
static void assert_rows(const struct layout *layout, const struct row *rows, size_t count)
{
    query_response expected;
    banyandb__measure__v1__query_response__init(&expected);
    expected.data_points = arena_array(&arena, data_point *, count);
    ck_assert(response.sink.begin(&response.sink, layout, &err));
    for (size_t i = 0; i < count; i++) {
        write_row(&rows[i]);
        expected.data_points[expected.n_data_points++] = point_of(layout, &rows[i]);
    }
    ck_assert_uint_eq(response.rows, count);
    size_t len = banyandb__measure__v1__query_response__get_packed_size(&expected);
    uint8_t *packed = arena_alloc(&arena, len, 1);
    banyandb__measure__v1__query_response__pack(&expected, packed);
    ck_assert(slice_equal(written(), slice_of(packed, len)));
}

/* ------------------------------------------------------------------- columns */

static struct layout_column column(const char *family, const char *name)
{
    return (struct layout_column){.family = slice_str(family), .name = slice_str(name)};
}

/* Texts of the tests lie in the region, with the 16 bytes behind them that cells have. */
static struct cell text(const char *bytes)
{
    return (struct cell){.kind = CELL_STRING,
                         .bytes = slice_of(arena_strdup(&arena, slice_str(bytes)), strlen(bytes))};
}

static struct cell number(int64_t value)
{
    return (struct cell){.kind = CELL_INT, .number = {.i = value}};
}

static struct cell real(double value)
{
    return (struct cell){.kind = CELL_FLOAT, .number = {.f = value}};
}

static const struct cell null = {.kind = CELL_NULL};

static void assert_hex(const char *hex)
{
    uint8_t bytes[512];
    size_t len = hex_bytes(hex, bytes, sizeof bytes);
    ck_assert(slice_equal(written(), slice_of(bytes, len)));
}

/* A row by hand: time 1 s 5 ns, default.svc "a", default.opt null, v 0, sid 1, version 2. */
START_TEST(by_hand)
{
    struct layout_column columns[] = {column("default", "svc"), column("default", "opt"),
                                      column("", "v")};
    struct layout layout = {2, 1, columns};
    struct cell cells[] = {text("a"), null, number(0)};
    struct row row = ROW(true, 1000000005, 2, 1, cells);
    ck_assert(response.sink.begin(&response.sink, &layout, &err));
    write_row(&row);
    assert_hex("0a 37"
               "0a 04 0801 1005"
               "12 22 0a07 64656661756c74"
               "   12 0c 0a03 737663 12 05 12 03 0a 01 61"
               "   12 09 0a03 6f7074 12 02 08 00"
               "1a 07 0a01 76 12 02 1a 00"
               "20 01 28 02");
}
END_TEST

/* Bytes that are not UTF-8 go out as they came in, and are counted. */
START_TEST(bad_texts)
{
    struct layout_column columns[] = {column("a", "x"), column("a", "y"), column("", "v")};
    struct layout layout = {2, 1, columns};
    struct cell cells[] = {text("\xff"), text("\xc3\xa4"), text("a\xe2\x82")};
    struct row row = ROW(true, 0, 0, 0, cells);
    ck_assert(response.sink.begin(&response.sink, &layout, &err));
    write_row(&row);
    write_row(&row);
    ck_assert_uint_eq(response.bad_texts, 4);
    ck_assert_ptr_nonnull(memchr(written().ptr, 0xff, written().len));
}
END_TEST

START_TEST(shapes)
{
    /* Families of one name are gathered, duplicates stay, hidden columns go. */
    struct layout_column columns[] = {column("a", "x"), column("b", "x"), column("a", "y"),
                                      column("a", "x"), column("c", "x"), column("", "v"),
                                      column("", "v"),  column("", "w")};
    columns[4].hidden = true;
    columns[7].hidden = true;
    struct layout layout = {5, 3, columns};
    struct cell cells[] = {text("1"), text("2"), text("3"), text("4"),
                           text("5"), number(1), real(2.5), number(3)};
    struct row row = ROW(true, 0, 0, 0, cells);
    assert_rows(&layout, &row, 1);
}
END_TEST

START_TEST(absent_parts)
{
    struct layout_column columns[] = {column("a", "x"), column("", "v")};
    struct cell cells[] = {text("1"), number(7)};
    struct row row = ROW(false, 5, 0, 0, cells); /* an aggregate has no time */
    struct layout both = {1, 1, columns};
    assert_rows(&both, &row, 1);
    tear_down();
    set_up();
    struct layout fields = {0, 1, columns + 1};
    row.cells = cells + 1;
    assert_rows(&fields, &row, 1);
    tear_down();
    set_up();
    columns[0].hidden = true; /* a family of hidden tags alone is not there */
    row.cells = cells;
    assert_rows(&both, &row, 1);
    tear_down();
    set_up();
    struct layout nothing = {0, 0, columns};
    assert_rows(&nothing, &row, 1);
    assert_hex("0a 00");
}
END_TEST

START_TEST(names)
{
    char long_name[300];
    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    char middle_name[124];
    memset(middle_name, 'm', sizeof middle_name - 1);
    middle_name[sizeof middle_name - 1] = '\0';
    struct layout_column columns[] = {column("", ""), column(long_name, long_name),
                                      column("", middle_name), column("", ""),
                                      column("", long_name)};
    struct layout layout = {3, 2, columns};
    struct cell cells[] = {text(""), text(long_name), null, number(-1), real(0.0)};
    struct row row = ROW(true, 1, 1, 1, cells);
    assert_rows(&layout, &row, 1);
}
END_TEST

START_TEST(times)
{
    static const int64_t moments[] = {
        0,         1,          999999999,           1000000000,
        -1,        -999999999, -1000000000,         -1000000001,
        INT64_MIN, INT64_MAX,  1796035800000000000, 1796035800000000000,
        0};
    struct layout layout = {0, 0, NULL};
    struct row rows[sizeof moments / sizeof *moments];
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        rows[i] = (struct row){.has_time = true,
                               .timestamp = moments[i],
                               .version = moments[i],
                               .series = (uint64_t)moments[i]};
    }
    assert_rows(&layout, rows, sizeof moments / sizeof *moments);
}
END_TEST

START_TEST(numbers)
{
    static const double reals[] = {0.0, 0.5, 1.5, -1e308, 5e-324};
    struct layout_column columns[] = {column("f", "t"), column("", "v"), column("", "w")};
    struct layout layout = {1, 2, columns};
    struct row rows[64 + 5];
    for (size_t i = 0; i < 64; i++) {
        struct cell *cells = arena_array(&arena, struct cell, 3);
        cells[0] = number((int64_t)(UINT64_C(1) << i));
        cells[1] = number((int64_t)((UINT64_C(1) << i) - 1));
        cells[2] = real((double)i - 3);
        rows[i] = ROW(true, 1, (int64_t)(UINT64_C(1) << i), UINT64_C(1) << i, cells);
    }
    for (size_t i = 0; i < 5; i++) {
        struct cell *cells = arena_array(&arena, struct cell, 3);
        cells[0] = null;
        cells[1] = real(reals[i]);
        cells[2] = real(i == 0 ? (double)INFINITY : i == 1 ? (double)NAN : (double)-INFINITY);
        rows[64 + i] = ROW(true, 1, 1, 1, cells);
    }
    assert_rows(&layout, rows, 64 + 5);
}
END_TEST

/* -0.0 is a value, +0.0 is the absence of one: protobuf-c compares numbers, the Go implementation
 * bits; here as there. */
START_TEST(minus_zero)
{
    struct layout_column columns[] = {column("", "v")};
    struct layout layout = {0, 1, columns};
    struct cell cell = real(-0.0);
    struct row row = {.cells = &cell};
    ck_assert(response.sink.begin(&response.sink, &layout, &err));
    write_row(&row);
    assert_hex("0a 12 1a 10 0a 01 76 12 0b 2a 09 09 0000000000000080");
}
END_TEST

/* Every length around the places where a length needs one more byte. */
START_TEST(lengths)
{
    struct layout_column columns[] = {column("f", "tag"), column("g", "tag"), column("", "field")};
    struct layout layout = {2, 1, columns};
    static struct row rows[700];
    char *bytes = arena_zalloc(&arena, 40000, 1);
    memset(bytes, 'l', 40000);
    for (size_t i = 0; i < 700; i++) {
        size_t len = i < 300 ? i : 16250 + i - 300;
        struct cell *cells = arena_array(&arena, struct cell, 3);
        cells[0] = (struct cell){.kind = CELL_STRING, .bytes = slice_of(bytes, len)};
        cells[1] = (struct cell){.kind = CELL_BINARY, .bytes = slice_of(bytes, len)};
        cells[2] = cells[i % 2];
        rows[i] = ROW(true, 5, 1, 1, cells);
    }
    assert_rows(&layout, rows, 700);
}
END_TEST

START_TEST(passed_on)
{
    static const char *const values[] = {
        "{\"strArray\":{\"value\":[\"a\",\"\",\"b\"]}}",
        "{\"intArray\":{\"value\":[1,-1,300]}}",
        "{\"timestamp\":\"2026-11-30T10:50:00.5Z\"}",
        "{\"strArray\":{}}",
    };
    struct layout_column columns[] = {column("f", "t")};
    struct layout layout = {1, 0, columns};
    struct row rows[4];
    for (size_t i = 0; i < 4; i++) {
        struct cell *cell = arena_new(&arena, struct cell);
        cell->kind = i == 1 ? CELL_INTS : i == 2 ? CELL_TIME : CELL_STRINGS;
        cell->bytes = sample_bytes(values[i], &banyandb__model__v1__tag_value__descriptor, &arena);
        rows[i] = ROW(true, 5, 1, 1, cell);
    }
    ck_assert(response.sink.begin(&response.sink, &layout, &err));
    for (size_t i = 0; i < 4; i++) {
        write_row(&rows[i]);
    }
    struct slice bytes = written();
    query_response *back =
        banyandb__measure__v1__query_response__unpack(NULL, bytes.len, bytes.ptr);
    ck_assert_ptr_nonnull(back);
    ck_assert_uint_eq(back->n_data_points, 4);
    const tag_value *value = back->data_points[0]->tag_families[0]->tags[0]->value;
    ck_assert_uint_eq(value->str_array->n_value, 3);
    ck_assert_str_eq(value->str_array->value[2], "b");
    value = back->data_points[1]->tag_families[0]->tags[0]->value;
    ck_assert_int_eq(value->int_array->value[2], 300);
    value = back->data_points[2]->tag_families[0]->tags[0]->value;
    ck_assert_int_eq(value->timestamp->seconds, 1796035800);
    banyandb__measure__v1__query_response__free_unpacked(back, NULL);
}
END_TEST

/* ------------------------------------------------------------------- by chance */

static struct cell random_cell(uint64_t *seed, bool is_tag)
{
    struct cell cell = {.kind = CELL_NULL};
    switch (random_below(seed, is_tag ? 4 : 5)) {
    case 1:
        return number((int64_t)(random_next(seed) >> random_below(seed, 64)) *
                      (random_below(seed, 2) == 0 ? 1 : -1));
    case 2:
    case 3: {
        size_t len = random_below(seed, random_below(seed, 4) == 0 ? 600 : 40);
        uint8_t *bytes = arena_alloc(&arena, len + 1, 1);
        for (size_t i = 0; i < len; i++) {
            bytes[i] = (uint8_t)('a' + random_below(seed, 26));
        }
        cell.kind = random_below(seed, 2) == 0 ? CELL_STRING : CELL_BINARY;
        cell.bytes = slice_of(bytes, len);
        return cell;
    }
    case 4:
        return real((double)random_below(seed, 3) - 1 + (double)random_below(seed, 2) / 8 + 0.25);
    default:
        return cell;
    }
}

static void random_layout(uint64_t *seed, struct layout *layout)
{
    static const char *const words[] = {"", "a", "service", "endpoint.name.of.more.than.32.bytes"};
    layout->tag_count = random_below(seed, 7);
    layout->field_count = random_below(seed, 4);
    layout->columns = arena_array(&arena, struct layout_column, 16);
    for (size_t i = 0; i < layout->tag_count + layout->field_count; i++) {
        const char *family = i < layout->tag_count ? words[random_below(seed, 3)] : "";
        layout->columns[i] = column(family, words[random_below(seed, 4)]);
        layout->columns[i].hidden = random_below(seed, 6) == 0;
    }
}

static struct row random_row(uint64_t *seed, const struct layout *layout)
{
    const size_t columns = layout->tag_count + layout->field_count;
    struct cell *cells = arena_array(&arena, struct cell, columns + 1);
    for (size_t i = 0; i < columns; i++) {
        cells[i] = random_cell(seed, i < layout->tag_count);
    }
    return (struct row){.has_time = random_below(seed, 8) != 0,
                        .timestamp = (int64_t)random_next(seed) >> random_below(seed, 64),
                        .version = (int64_t)random_next(seed) >> random_below(seed, 64),
                        .series = random_next(seed) >> random_below(seed, 64),
                        .cells = cells};
}

START_TEST(random_rows)
{
    uint64_t seed = 20261130;
    for (size_t round = 0; round < 300; round++) {
        struct layout layout;
        struct row rows[40];
        random_layout(&seed, &layout);
        size_t count = random_below(&seed, 40);
        for (size_t i = 0; i < count; i++) {
            rows[i] = random_row(&seed, &layout);
        }
        assert_rows(&layout, rows, count);
        tear_down();
        set_up();
    }
}
END_TEST

/* The size of one row of the layout. */
static size_t size_of(const struct layout *layout, const struct row *row)
{
    const size_t before = chain.len;
    ck_assert(response.sink.begin(&response.sink, layout, &err));
    write_row(row);
    return chain.len - before;
}

/* At or after the moment from which on the least is told. */
static int64_t random_time(uint64_t *seed, int64_t begin)
{
    const uint64_t span = (uint64_t)INT64_MAX - (uint64_t)(begin < 0 ? 0 : begin);
    return begin + (int64_t)(random_next(seed) % (span + 1) >> random_below(seed, 64));
}

START_TEST(no_row_takes_less_than_the_least)
{
    uint64_t seed = 1130;
    for (size_t round = 0; round < 2000; round++) {
        struct layout layout;
        random_layout(&seed, &layout);
        const int64_t begin = (int64_t)random_next(&seed) >> random_below(&seed, 64);
        const size_t least = response_least(&layout, begin, &arena);
        for (size_t i = 0; i < 10; i++) {
            struct row row = random_row(&seed, &layout);
            row.has_time = true;
            row.timestamp = random_time(&seed, begin);
            ck_assert_uint_ge(size_of(&layout, &row), least);
        }
        tear_down();
        set_up();
    }
}
END_TEST

START_TEST(a_row_of_nulls_takes_the_least)
{
    static const int64_t begins[] = {INT64_MIN,    -1,           0,
                                     127000000000, 128000000000, 1796035800000000000};
    static const int64_t least_times[] = {0, 0, 0, 127000000000, 128000000000, 1796035800000000000};
    uint64_t seed = 3011;
    for (size_t round = 0; round < 600; round++) {
        struct layout layout;
        random_layout(&seed, &layout);
        struct cell nulls[16] = {{.kind = CELL_NULL}};
        struct row row = ROW(true, least_times[round % 6], 0, 0, nulls);
        ck_assert_uint_eq(size_of(&layout, &row),
                          response_least(&layout, begins[round % 6], &arena));
        tear_down();
        set_up();
    }
}
END_TEST

/* ---------------------------------------------------------------------- ends */

START_TEST(limit)
{
    struct layout_column columns[] = {column("f", "t")};
    struct layout layout = {1, 0, columns};
    struct cell cell = text("0123456789");
    struct row row = ROW(true, 1000000000, 1, 1, &cell);
    response_init(&response, &chain, 100, &arena);
    ck_assert(response.sink.begin(&response.sink, &layout, &err));
    write_row(&row);
    size_t one = chain.len;
    write_row(&row);
    ck_assert(!response.sink.row(&response.sink, &row, &err));
    ck_assert_int_eq(err.code, ERROR_RESOURCE_EXHAUSTED);
    ck_assert_uint_eq(chain.len, 2 * one);
    ck_assert_uint_eq(response.rows, 2);
    ck_assert_ptr_nonnull(strstr(err.text, "at most 100 bytes"));
    ck_assert_ptr_nonnull(strstr(err.text, "a narrower time range"));
}
END_TEST

START_TEST(float_tag)
{
    struct layout_column columns[] = {column("fam", "t")};
    struct layout layout = {1, 0, columns};
    struct cell cell = real(1.5);
    struct row row = {.cells = &cell};
    ck_assert(response.sink.begin(&response.sink, &layout, &err));
    ck_assert(!response.sink.row(&response.sink, &row, &err));
    ck_assert_int_eq(err.code, ERROR_DATA_LOSS);
    ck_assert_str_eq(err.text, "a tag of family fam is a float64, which no tag can be");
    ck_assert_uint_eq(chain.len, 0);
}
END_TEST

START_TEST(statuses)
{
    struct request_group groups[] = {
        {.name = slice_str("g1"), .gated = true, .status = 1},
        {.name = slice_str("g2"), .gated = false, .status = 4},
        {.name = slice_str(""), .gated = true, .status = 10},
    };
    struct request request = {.group_count = 3, .groups = groups};
    response_statuses(&response, &request);
    trace_put(trace_open(&arena, 0), &chain);
    struct slice bytes = written();
    query_response *back =
        banyandb__measure__v1__query_response__unpack(NULL, bytes.len, bytes.ptr);
    ck_assert_ptr_nonnull(back);
    ck_assert_uint_eq(back->n_group_statuses, 2);
    ck_assert_str_eq(back->group_statuses[0]->key, "g1");
    ck_assert_int_eq(back->group_statuses[0]->value, 1);
    ck_assert_str_eq(back->group_statuses[1]->key, "");
    ck_assert_int_eq(back->group_statuses[1]->value, 10);
    ck_assert_str_eq(back->trace->trace_id, "1970-01-01T00:00:00Z");
    banyandb__measure__v1__query_response__free_unpacked(back, NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("response");
    TCase *tcase = tcase_create("response");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, by_hand);
    tcase_add_test(tcase, bad_texts);
    tcase_add_test(tcase, shapes);
    tcase_add_test(tcase, absent_parts);
    tcase_add_test(tcase, names);
    tcase_add_test(tcase, times);
    tcase_add_test(tcase, numbers);
    tcase_add_test(tcase, minus_zero);
    tcase_add_test(tcase, lengths);
    tcase_add_test(tcase, passed_on);
    tcase_add_test(tcase, random_rows);
    tcase_add_test(tcase, no_row_takes_less_than_the_least);
    tcase_add_test(tcase, a_row_of_nulls_takes_the_least);
    tcase_add_test(tcase, limit);
    tcase_add_test(tcase, float_tag);
    tcase_add_test(tcase, statuses);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
