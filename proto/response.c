// SPDX-License-Identifier: Apache-2.0
#include "proto/response.h"

#include "proto/response_layout.h"
#include "proto/response_value.h"
#include "proto/utf8.h"

#include <assert.h>

#define SECOND 1000000000

/* Keys of a data point's fields and of the messages in it: all field numbers are below 16. */
enum {
    KEY_POINT = 0x0a,   /* QueryResponse.data_points */
    KEY_TIME = 0x0a,    /* DataPoint.timestamp */
    KEY_FAMILY = 0x12,  /* DataPoint.tag_families */
    KEY_SERIES = 0x20,  /* DataPoint.sid */
    KEY_VERSION = 0x28, /* DataPoint.version */
    KEY_SECONDS = 0x08, /* Timestamp.seconds */
    KEY_NANOS = 0x10,   /* Timestamp.nanos */
};

static inline size_t number_size(uint64_t value)
{
    return value == 0 ? 0 : 1 + pbw_varint_size(value);
}

static inline uint8_t *number_write(uint8_t *at, uint8_t key, uint64_t value)
{
    if (value == 0) {
        return at;
    }
    *at = key;
    return pbw_varint_sized(at + 1, value, pbw_varint_size(value));
}

/* Rows that follow each other often have the same time: its bytes are made once for all of them. */
static void encode_time(struct response_time *time, int64_t timestamp)
{
    int64_t seconds = timestamp / SECOND;
    int64_t nanos = timestamp % SECOND;
    if (nanos < 0) {
        nanos += SECOND;
        seconds--;
    }
    uint8_t *at = number_write(time->bytes + 2, KEY_SECONDS, (uint64_t)seconds);
    at = number_write(at, KEY_NANOS, (uint64_t)nanos);
    time->bytes[0] = KEY_TIME;
    time->bytes[1] = (uint8_t)(at - (time->bytes + 2));
    time->len = (size_t)(at - time->bytes);
    time->timestamp = timestamp;
}

static inline struct slice time_of(struct response_layout *layout, const struct row *row)
{
    struct response_time *time = &layout->time;
    if (!row->has_time) {
        return slice_of(time->bytes, 0);
    }
    if (row->timestamp != time->timestamp || time->len == 0) {
        encode_time(time, row->timestamp);
    }
    return slice_of(time->bytes, time->len);
}

/* L of an entry: what stands behind L in the template, V longer if it has to, and the value. */
static inline size_t entry_inner(const struct response_column *column)
{
    return column->template.len - 3 + pbw_varint_size(column->value_size) + column->value_size;
}

/* A node that sends a float as a tag sends what the API has no place for. */
static bool float_tag(const struct response_family *family, struct error *err)
{
    return error_set(err, ERROR_DATA_LOSS, "a tag of family %.*s is a float64, which no tag can be",
                     SLICE_ARG(family->name));
}

static inline size_t measure_entry(struct response_column *column, const struct cell *cell)
{
    column->value_size = response_value_size(cell);
    if (column->value_size < column->short_limit) {
        return column->template.len + column->value_size;
    }
    size_t inner = entry_inner(column);
    return 1 + pbw_varint_size(inner) + inner;
}

/* 0: a tag that no TagValue can hold. */
static inline size_t measure_family(struct response_family *family, const struct cell *cells)
{
    bool has_float = false;
    family->size = family->prefix.len;
    for (size_t i = 0; i < family->column_count; i++) {
        const struct cell *cell = &cells[family->columns[i].cell];
        has_float = has_float || cell->kind == CELL_FLOAT;
        family->size += measure_entry(&family->columns[i], cell);
    }
    return has_float ? 0 : 1 + pbw_varint_size(family->size) + family->size;
}

/* The size of all families and fields; false: err. */
static bool measure_columns(const struct response_layout *layout, const struct cell *cells,
                            size_t *size_out, struct error *err)
{
    size_t size = 0;
    for (size_t i = 0; i < layout->family_count; i++) {
        size_t more = measure_family(&layout->families[i], cells);
        if (more == 0) {
            return float_tag(&layout->families[i], err);
        }
        size += more;
    }
    for (size_t i = 0; i < layout->field_count; i++) {
        size += measure_entry(&layout->fields[i], &cells[layout->fields[i].cell]);
    }
    *size_out = size;
    return true;
}

/* The parts of the template around L and V, which are longer than a byte. */
static uint8_t *write_long_template(uint8_t *at, const struct response_column *column)
{
    *at = column->template.ptr[0];
    at = pbw_varint(at + 1, entry_inner(column));
    at = pbw_copy(at, slice_of(column->template.ptr + 2, column->template.len - 3));
    return pbw_varint(at, column->value_size);
}

static inline uint8_t *write_entry(uint8_t *at, const struct response_column *column,
                                   struct response_value_keys keys, const struct cell *cells)
{
    /* Read first: every byte written could be one of the column's, as far as a compiler knows. */
    const struct slice template = column->template;
    const size_t value_size = column->value_size;
    const struct cell *cell = &cells[column->cell];
    if (value_size >= column->short_limit) {
        return response_value_write(write_long_template(at, column), keys, cell);
    }
    uint8_t *end = pbw_copy_short(at, template);
    at[1] = (uint8_t)(template.len - 2 + value_size);
    end[-1] = (uint8_t)value_size;
    return response_value_write(end, keys, cell);
}

static uint8_t *write_families(uint8_t *at, const struct response_layout *layout,
                               const struct cell *cells)
{
    for (size_t i = 0; i < layout->family_count; i++) {
        const struct response_family *family = &layout->families[i];
        *at++ = KEY_FAMILY;
        at = pbw_varint(at, family->size);
        at = pbw_copy_short(at, family->prefix);
        for (size_t k = 0; k < family->column_count; k++) {
            at = write_entry(at, &family->columns[k], RESPONSE_VALUE_TAG, cells);
        }
    }
    return at;
}

static uint8_t *write_fields(uint8_t *at, const struct response_layout *layout,
                             const struct cell *cells)
{
    for (size_t i = 0; i < layout->field_count; i++) {
        at = write_entry(at, &layout->fields[i], RESPONSE_VALUE_FIELD, cells);
    }
    return at;
}

static bool over_limit(const struct response *response, size_t more, struct error *err)
{
    return error_set(err, ERROR_RESOURCE_EXHAUSTED,
                     "the answer has %zu rows of %zu bytes and more to come, at most %zu bytes are "
                     "held for one query; ask for a narrower time range, fewer tags, or a lower "
                     "limit",
                     response->rows, response->chain->len + more, response->limit_bytes);
}

static size_t count_bad_text(const struct response_column *columns, size_t count,
                             const struct cell *cells)
{
    size_t bad = 0;
    for (size_t i = 0; i < count; i++) {
        const struct cell *cell = &cells[columns[i].cell];
        bad += cell->kind == CELL_STRING && !utf8_valid(cell->bytes);
    }
    return bad;
}

/* They are passed on as stored; a client may refuse the whole answer for them. */
static size_t count_bad_texts(const struct response_layout *layout, const struct cell *cells)
{
    size_t bad = count_bad_text(layout->fields, layout->field_count, cells);
    for (size_t i = 0; i < layout->family_count; i++) {
        bad += count_bad_text(layout->families[i].columns, layout->families[i].column_count, cells);
    }
    return bad;
}

static bool begin(struct sink *sink, const struct layout *layout, struct error *err)
{
    (void)err;
    struct response *response = (struct response *)sink;
    response->layout = response_layout_new(layout, response->arena);
    return true;
}

/* Of a data point with columns of that size. */
static inline size_t point_inner(size_t columns, struct slice time, const struct row *row)
{
    return columns + time.len + number_size(row->series) + number_size((uint64_t)row->version);
}

static inline size_t point_size(size_t inner)
{
    return 1 + pbw_varint_size(inner) + inner;
}

static bool row(struct sink *sink, const struct row *row, struct error *err)
{
    struct response *response = (struct response *)sink;
    const struct response_layout *layout = response->layout;
    size_t columns = 0;
    if (!measure_columns(layout, row->cells, &columns, err)) {
        return false;
    }
    const struct slice time = time_of(response->layout, row);
    const size_t inner = point_inner(columns, time, row);
    const size_t size = point_size(inner);
    if (response->chain->len + size > response->limit_bytes) {
        return over_limit(response, size, err);
    }
    uint8_t *start = chain_reserve(response->chain, size + PBW_SPARE);
    start[0] = KEY_POINT;
    uint8_t *at = pbw_varint(start + 1, inner);
    at = pbw_copy_short(at, time);
    at = write_families(at, layout, row->cells);
    at = write_fields(at, layout, row->cells);
    at = number_write(at, KEY_SERIES, row->series);
    at = number_write(at, KEY_VERSION, (uint64_t)row->version);
    assert((size_t)(at - start) == size);
    chain_commit(response->chain, size);
    response->rows++;
    response->bad_texts += count_bad_texts(layout, row->cells);
    return true;
}

size_t response_least(const struct layout *layout, int64_t begin, struct arena *arena)
{
    struct response_layout *shape = response_layout_new(layout, arena);
    const struct row row = {
        .has_time = true,
        .timestamp = begin < 0 ? 0 : begin - begin % SECOND,
        .cells = arena_array(arena, struct cell, layout->tag_count + layout->field_count),
    };
    size_t columns = 0;
    const bool measured = measure_columns(shape, row.cells, &columns, NULL);
    assert(measured); /* null is a value of any tag */
    (void)measured;
    return point_size(point_inner(columns, time_of(shape, &row), &row));
}

/* Protobuf messages end at 2 GiB. */
void response_init(struct response *response, struct chain *chain, size_t limit_bytes,
                   struct arena *arena)
{
    *response = (struct response){
        .sink = {.begin = begin, .row = row},
        .chain = chain,
        .limit_bytes = limit_bytes < INT32_MAX ? limit_bytes : INT32_MAX,
        .arena = arena,
    };
}

static void append_status(struct chain *chain, struct slice group, int32_t status)
{
    size_t entry = pbw_bytes_size(1, group.len) + 1 + pbw_varint_size((uint64_t)status);
    size_t size = pbw_bytes_size(50, entry);
    uint8_t *start = chain_reserve(chain, size);
    uint8_t *at = pbw_key(start, 50, PBW_BYTES);
    at = pbw_varint(at, entry);
    at = pbw_bytes(at, 1, group);
    at = pbw_key(at, 2, PBW_VARINT);
    at = pbw_varint(at, (uint64_t)status);
    chain_commit(chain, (size_t)(at - start));
}

void response_statuses(struct response *response, const struct request *request)
{
    for (size_t i = 0; i < request->group_count; i++) {
        const struct request_group *group = &request->groups[i];
        if (group->gated) {
            append_status(response->chain, group->name, group->status);
        }
    }
}
