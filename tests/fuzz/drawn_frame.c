// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/drawn_frame.h"

#include "tests/support/frame_builder.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#define CELL_MAX 96

/* Cells */

static int64_t draw_int(struct draw *draw)
{
    static const int64_t odd[] = {INT64_MIN, INT64_MAX, INT64_MIN + 1, -1, 1000000000};
    if (draw_once_in(draw, 16)) {
        return odd[draw_below(draw, sizeof odd / sizeof *odd)];
    }
    return draw_once_in(draw, 32) ? (int64_t)draw_number(draw) : (int64_t)draw_below(draw, 8) - 2;
}

static double draw_float(struct draw *draw)
{
    static const double odd[] = {0.0,     -0.0,     NAN,  INFINITY, -INFINITY,
                                 DBL_MAX, -DBL_MAX, 1e18, DBL_MIN,  -4.9e-324};
    double value;
    if (draw_once_in(draw, 8)) {
        return odd[draw_below(draw, sizeof odd / sizeof *odd)];
    }
    if (draw_once_in(draw, 32)) {
        const uint64_t bits = draw_number(draw);
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    return (double)draw_below(draw, 8) / 2 - 1;
}

/* Long ones begin alike. */
static size_t put_text(struct draw *draw, uint8_t *to)
{
    size_t len = draw_below(draw, 4);
    if (draw_once_in(draw, 4)) {
        len = 7 + draw_below(draw, 24);
    }
    memset(to, 'a', len);
    if (len > 0) {
        to[len - 1] = draw_once_in(draw, 32) ? draw_byte(draw) : (uint8_t)('a' + len % 3);
    }
    return len;
}

/* A field of a message, of less than 128 bytes. */
static size_t put_field(uint8_t *to, unsigned number, const uint8_t *bytes, size_t len)
{
    to[0] = (uint8_t)(number << 3 | 2);
    to[1] = (uint8_t)len;
    memcpy(to + 2, bytes, len);
    return len + 2;
}

/* What a variant's message holds: a text, a varint, a double, some of the first, or any bytes. */
static size_t put_inner(struct draw *draw, uint8_t *to)
{
    uint8_t text[32];
    size_t len = 0;
    switch (draw_below(draw, 5)) {
    case 0:
        return put_field(to, 1, text, put_text(draw, text));
    case 1:
        to[0] = 1 << 3;
        to[1] = (uint8_t)draw_below(draw, 8);
        return 2;
    case 2: {
        const double value = draw_float(draw);
        to[0] = 1 << 3 | 1;
        memcpy(to + 1, &value, sizeof value);
        return 1 + sizeof value;
    }
    case 3:
        len = put_field(to, 1, text, put_text(draw, text));
        return len + put_field(to + len, 1, text, put_text(draw, text));
    default:
        len = draw_below(draw, 12);
        for (size_t i = 0; i < len; i++) {
            to[i] = draw_byte(draw);
        }
        return len;
    }
}

/* A TagValue or FieldValue, as likely as not one that goes with what it holds. */
static size_t put_value(struct draw *draw, uint8_t *to)
{
    uint8_t inner[80];
    const unsigned variant = (unsigned)draw_below(draw, 8);
    if (variant == 1) {
        to[0] = 1 << 3;
        to[1] = 0;
        return 2;
    }
    return variant == 0 ? 0 : put_field(to, variant, inner, put_inner(draw, inner));
}

static void put_cell(struct frame_builder *builder, struct draw *draw, enum column_type type)
{
    uint8_t cell[CELL_MAX];
    switch (type) {
    case COLUMN_INT64:
        frame_builder_int(builder, draw_int(draw));
        return;
    case COLUMN_FLOAT64:
        frame_builder_float(builder, draw_float(draw));
        return;
    case COLUMN_STRING:
    case COLUMN_BYTES:
        frame_builder_bytes(builder, slice_of(cell, put_text(draw, cell)));
        return;
    case COLUMN_TAG_VALUE:
    case COLUMN_FIELD_VALUE:
        frame_builder_bytes(builder, slice_of(cell, put_value(draw, cell)));
        return;
    }
}

/* Columns */

struct wanted_column {
    enum column_role role;
    const char *name;
};

static const struct wanted_column of_rows[] = {
    {COLUMN_TIMESTAMP, ""}, {COLUMN_VERSION, ""}, {COLUMN_SERIES, ""}, {COLUMN_TAG, "t"},
    {COLUMN_TAG, "k"},      {COLUMN_TAG, "pad"},  {COLUMN_FIELD, "v"},
};
static const struct wanted_column of_partials[] = {
    {COLUMN_SHARD, ""},
    {COLUMN_TAG, "k"},
    {COLUMN_TAG, "t"},
    {COLUMN_FIELD, "v"},
    {COLUMN_FIELD, "v__agg_count"},
};

static enum column_type draw_type(struct draw *draw, enum column_role role)
{
    static const enum column_type tags[] = {COLUMN_STRING, COLUMN_INT64, COLUMN_TAG_VALUE,
                                            COLUMN_BYTES, COLUMN_FLOAT64};
    static const enum column_type fields[] = {COLUMN_INT64, COLUMN_FLOAT64, COLUMN_FIELD_VALUE,
                                              COLUMN_STRING};
    switch (role) {
    case COLUMN_TAG:
        return tags[draw_once_in(draw, 8) ? 3 + draw_below(draw, 2) : draw_below(draw, 3)];
    case COLUMN_FIELD:
        return fields[draw_once_in(draw, 8) ? 3 : draw_below(draw, 3)];
    default:
        return COLUMN_INT64;
    }
}

static void put_column(struct frame_builder *builder, struct draw *draw,
                       const struct wanted_column *wanted, size_t rows)
{
    static const uint8_t pad[80];
    const enum column_type type = draw_type(draw, wanted->role);
    const bool is_pad = strcmp(wanted->name, "pad") == 0;
    const bool constant = draw_once_in(draw, 6);
    const size_t null_in = wanted->role < COLUMN_TAG || draw_once_in(draw, 2) ? 0 : 6;
    frame_builder_column(builder, wanted->role, is_pad ? COLUMN_STRING : type,
                         wanted->role == COLUMN_TAG ? "f" : NULL, wanted->name);
    if (constant) {
        frame_builder_constant(builder);
    }
    for (size_t i = 0; i < (constant ? 1 : rows); i++) {
        if (null_in > 0 && draw_once_in(draw, null_in)) {
            frame_builder_null(builder);
        } else if (is_pad) {
            frame_builder_bytes(builder, slice_of(pad, sizeof pad));
        } else {
            put_cell(builder, draw, type);
        }
    }
}

/* Few, or so many that they come by shares and copies of some of them pay. */
static size_t draw_rows(struct draw *draw)
{
    const size_t rows = draw_byte(draw);
    return rows < 248 ? rows % 24 : (rows - 247) * 120;
}

static uint8_t *build(struct draw *draw, bool partials, size_t *len_out)
{
    const struct wanted_column *columns = partials ? of_partials : of_rows;
    const size_t count =
        partials ? sizeof of_partials / sizeof *of_partials : sizeof of_rows / sizeof *of_rows;
    const size_t rows = draw_rows(draw);
    struct frame_builder *builder = frame_builder_new(rows);
    for (size_t i = 0; i < count; i++) {
        const bool odd = draw_once_in(draw, 64); /* left out, or another one again */
        if (!odd) {
            put_column(builder, draw, &columns[i], rows);
        } else if (draw_once_in(draw, 2)) {
            put_column(builder, draw, &columns[draw_below(draw, count)], rows);
        }
    }
    uint8_t *bytes = frame_builder_encode(builder, 3 + (unsigned)draw_below(draw, 2), len_out);
    frame_builder_free(&builder);
    return bytes;
}

static uint8_t *any_bytes(struct draw *draw, size_t *len_out)
{
    const size_t len = draw_byte(draw);
    uint8_t *bytes = malloc(len + 1);
    assert(bytes != NULL);
    for (size_t i = 0; i < len; i++) {
        bytes[i] = draw_byte(draw);
    }
    *len_out = len;
    return bytes;
}

static void change(struct draw *draw, uint8_t *bytes, size_t len)
{
    for (size_t times = 1 + draw_below(draw, 3); times > 0 && len > 0; times--) {
        const size_t at = draw_once_in(draw, 2) ? draw_byte(draw) : (size_t)draw_number(draw);
        bytes[at % len] = draw_byte(draw);
    }
}

/* In an answer frames lie anywhere. */
static struct drawn_frame shift(struct draw *draw, uint8_t *bytes, size_t len)
{
    struct drawn_frame frame = {.begin = draw_once_in(draw, 4) ? draw_below(draw, 8) : 0};
    frame.len = frame.begin + len;
    frame.bytes = calloc(1, frame.len + 1);
    assert(frame.bytes != NULL);
    memcpy(frame.bytes + frame.begin, bytes, len);
    free(bytes);
    return frame;
}

struct drawn_frame drawn_frame(struct draw *draw, bool partials)
{
    const size_t kind = draw_below(draw, 16);
    size_t len;
    if (kind == 15) {
        uint8_t *bytes = any_bytes(draw, &len);
        return shift(draw, bytes, len);
    }
    uint8_t *bytes = build(draw, partials, &len);
    if (kind >= 13) {
        change(draw, bytes, len);
    }
    return shift(draw, bytes, len);
}
