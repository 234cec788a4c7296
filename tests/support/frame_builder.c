// SPDX-License-Identifier: Apache-2.0
/* Columns hold their cells as they were given; the two layouts are written in one pass each. */
#include "tests/support/frame_builder.h"

#include "frame/decode.h"

#include <assert.h>
#include <stdlib.h>

#define SPARE 16

struct bytes {
    uint8_t *ptr; /* own */
    size_t len;
    size_t capacity;
};

struct cell {
    bool null;
    uint64_t bits; /* numbers */
    size_t at;     /* other types: where in the column's pool, and how long */
    size_t len;
};

struct built_column {
    enum column_role role;
    enum column_type type;
    bool constant;
    struct bytes name;
    struct bytes family;
    struct bytes pool;
    struct cell *cells; /* own */
    size_t wanted;
    size_t count;
};

struct frame_builder {
    size_t rows;
    size_t count;
    struct built_column *columns; /* own */
};

static void *must(void *ptr)
{
    if (ptr == NULL) {
        abort();
    }
    return ptr;
}

static void put(struct bytes *bytes, const void *from, size_t len)
{
    if (bytes->len + len > bytes->capacity) {
        bytes->capacity = 2 * bytes->capacity + len + 64;
        bytes->ptr = must(realloc(bytes->ptr, bytes->capacity));
    }
    if (len > 0) {
        memcpy(bytes->ptr + bytes->len, from, len);
        bytes->len += len;
    }
}

static void put_zeros(struct bytes *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        put(bytes, "", 1);
    }
}

static void put_padding(struct bytes *bytes)
{
    put_zeros(bytes, (8 - bytes->len % 8) % 8);
}

static void put_u8(struct bytes *bytes, unsigned value)
{
    put(bytes, &(uint8_t){(uint8_t)value}, 1);
}

static void put_u16(struct bytes *bytes, size_t value)
{
    put(bytes, &(uint16_t){(uint16_t)value}, 2);
}

static void put_u32(struct bytes *bytes, size_t value)
{
    put(bytes, &(uint32_t){(uint32_t)value}, 4);
}

static void put_uvarint(struct bytes *bytes, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) {
        put_u8(bytes, (unsigned)(value & 0x7F) | 0x80);
    }
    put_u8(bytes, (unsigned)value);
}

static void put_counted(struct bytes *bytes, struct slice slice)
{
    put_uvarint(bytes, slice.len);
    put(bytes, slice.ptr, slice.len);
}

static struct slice slice_from(const struct bytes *bytes)
{
    return slice_of(bytes->ptr, bytes->len);
}

struct frame_builder *frame_builder_new(size_t rows)
{
    struct frame_builder *builder = must(calloc(1, sizeof *builder));
    builder->rows = rows;
    return builder;
}

void frame_builder_free(struct frame_builder **builder)
{
    struct frame_builder *freed = *builder;
    *builder = NULL;
    for (size_t i = 0; freed != NULL && i < freed->count; i++) {
        free(freed->columns[i].name.ptr);
        free(freed->columns[i].family.ptr);
        free(freed->columns[i].pool.ptr);
        free(freed->columns[i].cells);
    }
    free(freed != NULL ? freed->columns : NULL);
    free(freed);
}

void frame_builder_column_like(struct frame_builder *builder, const struct column *like)
{
    size_t size = (builder->count + 1) * sizeof *builder->columns;
    builder->columns = must(realloc(builder->columns, size));
    struct built_column *column = &builder->columns[builder->count++];
    *column = (struct built_column){.role = like->role, .type = like->type};
    column->wanted = builder->rows;
    column->cells = must(calloc(builder->rows + 1, sizeof *column->cells));
    put(&column->name, like->name.ptr, like->name.len);
    put(&column->family, like->family.ptr, like->family.len);
    if (like->constant) {
        frame_builder_constant(builder);
    }
}

void frame_builder_column(struct frame_builder *builder, enum column_role role,
                          enum column_type type, const char *family, const char *name)
{
    struct column like = {
        .role = role,
        .type = type,
        .name = slice_str(name),
        .family = slice_str(family == NULL ? "" : family),
    };
    frame_builder_column_like(builder, &like);
}

static struct built_column *last(struct frame_builder *builder)
{
    assert(builder->count > 0);
    return &builder->columns[builder->count - 1];
}

void frame_builder_constant(struct frame_builder *builder)
{
    struct built_column *column = last(builder);
    assert(column->count == 0);
    column->constant = true;
    column->wanted = 1;
}

static bool is_number(const struct built_column *column)
{
    return column->type == COLUMN_INT64 || column->type == COLUMN_FLOAT64;
}

static struct cell *next_cell(struct frame_builder *builder)
{
    struct built_column *column = last(builder);
    assert(column->count < column->wanted);
    return &column->cells[column->count++];
}

void frame_builder_bits(struct frame_builder *builder, uint64_t bits)
{
    assert(is_number(last(builder)));
    *next_cell(builder) = (struct cell){.bits = bits};
}

void frame_builder_int(struct frame_builder *builder, int64_t value)
{
    assert(last(builder)->type == COLUMN_INT64);
    frame_builder_bits(builder, (uint64_t)value);
}

void frame_builder_float(struct frame_builder *builder, double value)
{
    assert(last(builder)->type == COLUMN_FLOAT64);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    frame_builder_bits(builder, bits);
}

void frame_builder_bytes(struct frame_builder *builder, struct slice bytes)
{
    struct built_column *column = last(builder);
    assert(!is_number(column));
    *next_cell(builder) = (struct cell){.at = column->pool.len, .len = bytes.len};
    put(&column->pool, bytes.ptr, bytes.len);
}

void frame_builder_text(struct frame_builder *builder, const char *text)
{
    frame_builder_bytes(builder, slice_str(text));
}

void frame_builder_null(struct frame_builder *builder)
{
    *next_cell(builder) = (struct cell){.null = true, .at = last(builder)->pool.len};
}

void frame_builder_view(struct frame_builder *builder, const struct view *view)
{
    assert(builder->rows == view->row_count);
    for (size_t i = 0; i < view->column_count; i++) {
        const struct column *column = &view->columns[i];
        frame_builder_column_like(builder, column);
        size_t stored = column->constant ? 1 : view->row_count;
        for (size_t row = 0; row < stored; row++) {
            if (column_is_null(column, row)) {
                frame_builder_null(builder);
            } else if (column_is_number(column)) {
                frame_builder_bits(builder, column_bits(column, row));
            } else {
                frame_builder_bytes(builder, column_bytes(column, row));
            }
        }
    }
}

/* One column as one layout will write it: which cells, and how many of them. */
struct emit {
    struct bytes *out;
    const struct built_column *column;
    size_t count;
    bool constant;
};

static const struct cell *emit_cell(const struct emit *emit, size_t i)
{
    return &emit->column->cells[emit->column->constant ? 0 : i];
}

static size_t emit_nulls(const struct emit *emit)
{
    size_t nulls = 0;
    for (size_t i = 0; i < emit->count; i++) {
        nulls += emit_cell(emit, i)->null;
    }
    return nulls;
}

static void emit_bitmap(const struct emit *emit, bool bit_of_null)
{
    uint8_t byte = 0;
    for (size_t i = 0; i < emit->count; i++) {
        if (emit_cell(emit, i)->null == bit_of_null) {
            byte |= (uint8_t)(1u << i % 8);
        }
        if (i % 8 == 7 || i + 1 == emit->count) {
            put_u8(emit->out, byte);
            byte = 0;
        }
    }
}

static size_t values_len(const struct emit *emit)
{
    size_t len = 0;
    for (size_t i = 0; i < emit->count; i++) {
        len += is_number(emit->column) ? 8 : emit_cell(emit, i)->len;
    }
    return len;
}

static void emit_offsets(const struct emit *emit)
{
    size_t at = 0;
    put_u32(emit->out, 0);
    for (size_t i = 0; i < emit->count; i++) {
        at += emit_cell(emit, i)->len;
        put_u32(emit->out, at);
    }
}

static void emit_cells(const struct emit *emit, bool counted)
{
    for (size_t i = 0; i < emit->count; i++) {
        const struct cell *cell = emit_cell(emit, i);
        struct slice bytes = {0};
        if (cell->len > 0) {
            bytes = slice_of(emit->column->pool.ptr + cell->at, cell->len);
        }
        if (is_number(emit->column)) {
            put(emit->out, &cell->bits, 8);
        } else if (counted) {
            put_counted(emit->out, bytes);
        } else {
            put(emit->out, bytes.ptr, bytes.len);
        }
    }
}

static void emit_v4(const struct emit *emit)
{
    const struct built_column *column = emit->column;
    size_t nulls = emit_nulls(emit);
    put_u8(emit->out, column->role);
    put_u8(emit->out, column->type);
    put_u8(emit->out, (nulls > 0 ? 1u : 0) | (emit->constant ? 2u : 0));
    put_u8(emit->out, 0);
    put_u16(emit->out, column->name.len);
    put_u16(emit->out, column->family.len);
    put_u32(emit->out, nulls);
    put_u32(emit->out, values_len(emit));
    put(emit->out, column->name.ptr, column->name.len);
    put(emit->out, column->family.ptr, column->family.len);
    put_padding(emit->out);
    if (nulls > 0) {
        emit_bitmap(emit, false);
        put_padding(emit->out);
    }
    if (!is_number(column)) {
        emit_offsets(emit);
        put_padding(emit->out);
    }
    emit_cells(emit, false);
    put_padding(emit->out);
}

static void emit_v3(const struct emit *emit)
{
    const struct built_column *column = emit->column;
    put_u8(emit->out, column->role);
    put_u8(emit->out, column->type);
    put_counted(emit->out, slice_from(&column->name));
    put_counted(emit->out, slice_from(&column->family));
    emit_bitmap(emit, true);
    emit_cells(emit, true);
}

/* What a constant would cost of the budget; 0 if the column is none. */
static uint64_t expansion(const struct frame_builder *builder, const struct built_column *column)
{
    if (!column->constant) {
        return 0;
    }
    return builder->rows * (is_number(column) ? 8 : 16 + (uint64_t)column->cells[0].len);
}

static void encode_v4(const struct frame_builder *builder, struct bytes *out)
{
    put(out, "\0VFR\4\0\0\0", 8);
    put_u32(out, builder->rows);
    put_u32(out, builder->count);
    uint64_t left = DECODE_CONSTANT_BUDGET;
    for (size_t i = 0; i < builder->count; i++) {
        const struct built_column *column = &builder->columns[i];
        uint64_t cost = expansion(builder, column);
        bool constant = column->constant && builder->rows > 0 && cost <= left;
        left -= constant ? cost : 0;
        emit_v4(&(struct emit){out, column, constant ? 1 : builder->rows, constant});
    }
}

static void encode_v3(const struct frame_builder *builder, struct bytes *out)
{
    put(out, "\0VFR\3", 5);
    put_uvarint(out, builder->rows);
    put_uvarint(out, builder->count);
    for (size_t i = 0; i < builder->count; i++) {
        emit_v3(&(struct emit){out, &builder->columns[i], builder->rows, false});
    }
}

/* Hands the bytes out, the spare ones behind them. */
static uint8_t *finish(struct bytes *bytes, size_t *len_out)
{
    *len_out = bytes->len;
    put_zeros(bytes, SPARE);
    return bytes->ptr;
}

uint8_t *frame_builder_encode(const struct frame_builder *builder, unsigned version,
                              size_t *len_out)
{
    assert(version == 3 || version == 4);
    struct bytes out = {0};
    for (size_t i = 0; i < builder->count; i++) {
        assert(builder->columns[i].count == builder->columns[i].wanted);
    }
    if (version == 4) {
        encode_v4(builder, &out);
    } else {
        encode_v3(builder, &out);
    }
    return finish(&out, len_out);
}

static void put_field(struct bytes *out, unsigned number, struct slice bytes)
{
    if (bytes.len > 0) {
        put_u8(out, number << 3 | 2);
        put_counted(out, bytes);
    }
}

uint8_t *frame_builder_send_response(uint64_t message_id, struct slice error, struct slice body,
                                     size_t *len_out)
{
    struct bytes out = {0};
    if (message_id != 0) {
        put_u8(&out, 1 << 3);
        put_uvarint(&out, message_id);
    }
    put_field(&out, 2, error);
    put_field(&out, 3, body);
    return finish(&out, len_out);
}

uint8_t *frame_builder_internal_response(struct slice trace, struct slice frame, size_t *len_out)
{
    struct bytes out = {0};
    put_field(&out, 2, trace);
    put_field(&out, 3, frame);
    return finish(&out, len_out);
}
