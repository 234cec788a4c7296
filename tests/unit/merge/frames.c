// SPDX-License-Identifier: Apache-2.0
/* Reading frames that are written as text, and writing answers as text. */
#include "tests/unit/merge/frames.h"

#include "frame/decode.h"
#include "merge/merge.h"
#include "tests/support/frame_builder.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_COLUMNS 16
#define MAX_ROWS    64
#define MAX_TOKEN   64

/* ----------------------------------------------------------------- frames */

struct text_frame {
    size_t column_count;
    size_t row_count;
    char columns[MAX_COLUMNS][MAX_TOKEN];
    char cells[MAX_ROWS][MAX_COLUMNS][MAX_TOKEN];
};

static void split_frame(const char *text, struct text_frame *frame)
{
    size_t row = 0; /* 0: the columns */
    size_t at = 0;
    *frame = (struct text_frame){0};
    while (*text != '\0') {
        size_t len = strcspn(text, " |");
        if (len > 0) {
            assert(len < MAX_TOKEN && at < MAX_COLUMNS && row <= MAX_ROWS);
            char *to = row == 0 ? frame->columns[at] : frame->cells[row - 1][at];
            memcpy(to, text, len);
            at++;
        }
        text += len;
        if (row == 0) {
            frame->column_count = at;
        }
        if (*text == '|') {
            assert(row == 0 || at == frame->column_count);
            row++;
            at = 0;
        }
        text += *text != '\0';
    }
    assert(row == 0 || at == frame->column_count);
    frame->row_count = row;
}

static enum column_type type_of(const char *name)
{
    static const struct {
        const char *name;
        enum column_type type;
    } types[] = {
        {"int", COLUMN_INT64},   {"float", COLUMN_FLOAT64}, {"str", COLUMN_STRING},
        {"bytes", COLUMN_BYTES}, {"tv", COLUMN_TAG_VALUE},  {"fv", COLUMN_FIELD_VALUE},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, name) == 0) {
            return types[i].type;
        }
    }
    assert(!"a type");
    return COLUMN_INT64;
}

struct text_column {
    enum column_role role;
    enum column_type type;
    bool constant;
    char family[MAX_TOKEN];
    char name[MAX_TOKEN];
};

static struct text_column parse_column(const char *text)
{
    static const char *const metadata[] = {"time", "version", "series", "shard"};
    struct text_column column = {.type = COLUMN_INT64};
    char body[MAX_TOKEN];
    strcpy(body, text);
    size_t len = strlen(body);
    column.constant = body[len - 1] == '!';
    body[len - column.constant] = '\0';
    for (size_t i = 0; i < 4; i++) {
        if (strcmp(body, metadata[i]) == 0) {
            column.role = (enum column_role)(COLUMN_TIMESTAMP + i);
            return column;
        }
    }
    char *colon = strrchr(body, ':');
    assert(colon != NULL);
    column.type = type_of(colon + 1);
    *colon = '\0';
    if (strncmp(body, "tag:", 4) == 0) {
        char *dot = strchr(body, '.');
        assert(dot != NULL);
        *dot = '\0';
        column.role = COLUMN_TAG;
        strcpy(column.family, body + 4);
        strcpy(column.name, dot + 1);
    } else {
        assert(strncmp(body, "field:", 6) == 0);
        column.role = COLUMN_FIELD;
        strcpy(column.name, body + 6);
    }
    return column;
}

/* Protobuf, for messages of less than 128 bytes. */
static size_t put_bytes(uint8_t *to, unsigned number, const void *bytes, size_t len)
{
    assert(len < 128);
    to[0] = (uint8_t)(number << 3 | 2);
    to[1] = (uint8_t)len;
    memcpy(to + 2, bytes, len);
    return len + 2;
}

static size_t put_varint(uint8_t *to, unsigned number, uint64_t value)
{
    size_t len = 0;
    to[len++] = (uint8_t)(number << 3);
    for (; value >= 128; value >>= 7) {
        to[len++] = (uint8_t)(value | 128);
    }
    to[len++] = (uint8_t)value;
    return len;
}

static size_t strings_message(const char *cell, uint8_t *to)
{
    uint8_t inner[128];
    size_t len = 0;
    for (const char *at = cell + 1; *at != ']' && *at != '\0';) {
        size_t size = strcspn(at, ",]");
        len += put_bytes(inner + len, 1, at, size);
        at += size + (at[size] == ',');
    }
    return put_bytes(to, 3, inner, len);
}

static size_t message_of(enum column_type type, const char *cell, uint8_t *to)
{
    uint8_t inner[128];
    char *end;
    bool tag = type == COLUMN_TAG_VALUE;
    if (strcmp(cell, "null") == 0) {
        return put_varint(to, 1, 0);
    }
    if (strcmp(cell, "void") == 0) {
        return 0;
    }
    if (*cell == '[') {
        return strings_message(cell, to);
    }
    if (strncmp(cell, "x:", 2) == 0) {
        return put_bytes(to, tag ? 6 : 4, cell + 2, strlen(cell) - 2);
    }
    long long integer = strtoll(cell, &end, 10);
    if (end != cell && *end == '\0') {
        return put_bytes(to, tag ? 4 : 3, inner, put_varint(inner, 1, (uint64_t)integer));
    }
    double number = strtod(cell, &end);
    if (end != cell && *end == '\0' && !tag) {
        inner[0] = 1 << 3 | 1;
        memcpy(inner + 1, &number, sizeof number);
        return put_bytes(to, 5, inner, 9);
    }
    return put_bytes(to, 2, inner, put_bytes(inner, 1, cell, strlen(cell)));
}

static void put_cell(struct frame_builder *builder, enum column_type type, const char *cell)
{
    uint8_t message[256];
    if (strcmp(cell, "-") == 0) {
        frame_builder_null(builder);
        return;
    }
    if (strcmp(cell, "\"\"") == 0) {
        cell = "";
    }
    switch (type) {
    case COLUMN_INT64:
        frame_builder_int(builder, strtoll(cell, NULL, 10));
        break;
    case COLUMN_FLOAT64:
        frame_builder_float(builder, strtod(cell, NULL));
        break;
    case COLUMN_STRING:
    case COLUMN_BYTES:
        frame_builder_text(builder, cell);
        break;
    case COLUMN_TAG_VALUE:
    case COLUMN_FIELD_VALUE:
        frame_builder_bytes(builder, slice_of(message, message_of(type, cell, message)));
        break;
    }
}

static void build_column(struct frame_builder *builder, const struct text_frame *frame, size_t at)
{
    const struct text_column column = parse_column(frame->columns[at]);
    frame_builder_column(builder, column.role, column.type, column.family, column.name);
    if (column.constant) {
        frame_builder_constant(builder);
    }
    for (size_t row = 0; row < (column.constant ? 1 : frame->row_count); row++) {
        put_cell(builder, column.type, frame->cells[row][at]);
    }
}

struct msg *frames_make(const char *text, unsigned version, struct charge *charge)
{
    static struct text_frame frame;
    split_frame(text, &frame);
    struct frame_builder *builder = frame_builder_new(frame.row_count);
    for (size_t i = 0; i < frame.column_count; i++) {
        build_column(builder, &frame, i);
    }
    size_t len;
    uint8_t *bytes = frame_builder_encode(builder, version, &len);
    struct msg *msg = msg_copy_of(slice_of(bytes, len), charge);
    free(bytes);
    frame_builder_free(&builder);
    return msg;
}

/* ---------------------------------------------------------------- answers */

struct writer {
    struct sink sink;
    const struct layout *layout;
    FILE *out;
    bool begun;
    size_t rows;
};

static bool begin(struct sink *sink, const struct layout *layout, struct error *err)
{
    (void)err;
    struct writer *writer = (struct writer *)sink;
    assert(!writer->begun);
    writer->begun = true;
    writer->layout = layout;
    return true;
}

/* As short as reads back the same. */
static void write_float(FILE *out, double value)
{
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (isnan(value) || strtod(text, NULL) == value) {
            break;
        }
    }
    bool plain = strspn(text, "-0123456789") == strlen(text);
    fprintf(out, "%s%s", isnan(value) ? "nan" : text, plain ? ".0" : "");
}

static void write_cell(FILE *out, const struct cell *cell)
{
    switch (cell->kind) {
    case CELL_NULL:
        fputs("null", out);
        break;
    case CELL_INT:
        fprintf(out, "%lld", (long long)cell->number.i);
        break;
    case CELL_FLOAT:
        write_float(out, cell->number.f);
        break;
    case CELL_STRING:
        fprintf(out, "%.*s", SLICE_ARG(cell->bytes));
        break;
    case CELL_BINARY:
        fprintf(out, "x:%.*s", SLICE_ARG(cell->bytes));
        break;
    case CELL_STRINGS:
    case CELL_INTS:
    case CELL_TIME:
        fprintf(out, "[%zu bytes]", cell->inner.len);
        break;
    }
}

static bool write_row(struct sink *sink, const struct row *row, struct error *err)
{
    (void)err;
    struct writer *writer = (struct writer *)sink;
    const char *blank = "";
    fputs(writer->rows++ == 0 ? "" : "; ", writer->out);
    if (row->has_time) {
        fprintf(writer->out, "%lld/%llu/%lld:", (long long)row->timestamp,
                (unsigned long long)row->series, (long long)row->version);
        blank = " ";
    }
    size_t count = writer->layout->tag_count + writer->layout->field_count;
    for (size_t i = 0; i < count; i++) {
        if (!writer->layout->columns[i].hidden) {
            fputs(blank, writer->out);
            write_cell(writer->out, &row->cells[i]);
            blank = " ";
        }
    }
    return true;
}

bool frames_take(struct merge *merge, size_t group, size_t rank, struct msg *msg, size_t share,
                 struct error *err)
{
    enum progress progress;
    merge_offer(merge, group, rank, msg, msg_bytes(msg));
    do {
        size_t left = share;
        progress = merge_take(merge, &left, err);
    } while (progress == PROGRESS_MORE);
    return progress == PROGRESS_DONE;
}

/* The messages of the first one's part; how many. */
static size_t feed(struct merge *merge, const struct frames_msg *msgs, size_t count,
                   enum merge_state *state, struct error *err)
{
    size_t fed = 0;
    for (; fed < count && msgs[fed].part == msgs[0].part; fed++) {
        struct msg *msg = msgs[fed].msg;
        if (*state == MERGE_MORE &&
            !frames_take(merge, msgs[fed].group, msgs[fed].rank, msg, 1 + fed % 7, err)) {
            *state = MERGE_FAILED;
        }
        msg_release(&msg);
    }
    if (fed < count || msgs[0].part > 0) {
        merge_expect(merge, fed < count);
    }
    return fed;
}

char *frames_merge(const struct plan *plan, const struct frames_msg *msgs, size_t count,
                   size_t step)
{
    char *text = NULL;
    size_t len = 0;
    struct writer writer = {.sink = {begin, write_row}, .out = open_memstream(&text, &len)};
    struct charge charge = {0};
    struct arena arena;
    struct error err = {0};
    arena_init(&arena, SIZE_MAX, NULL, &charge);
    for (size_t i = 0; i < count; i++) {
        msg_recharge(msgs[i].msg, &charge);
    }
    struct merge *merge = merge_open(plan, DECODE_V3 | DECODE_V4, &arena);
    enum merge_state state = MERGE_FED;
    for (size_t fed = 0; fed < count || state == MERGE_FED;) {
        state = state == MERGE_FED ? MERGE_MORE : state;
        const size_t left = count - fed;
        fed += left == 0 ? 0 : feed(merge, msgs + fed, left, &state, &err);
        if (plan->mode == PLAN_PARTIALS) {
            assert(charge.count[CHARGE_MESSAGE] == 0 && charge.bytes[CHARGE_MESSAGE] == 0);
        }
        while (state == MERGE_MORE) {
            state = merge_run(merge, &writer.sink, step, &err);
        }
        assert(state != MERGE_FED || charge.count[CHARGE_MESSAGE] == count - fed);
    }
    if (state == MERGE_FAILED) {
        fprintf(writer.out, "!%s", err.text);
    }
    merge_close(&merge);
    arena_fini(&arena);
    for (size_t kind = 0; kind < CHARGE_KINDS; kind++) {
        assert(charge.count[kind] == 0 && charge.bytes[kind] == 0);
    }
    fclose(writer.out);
    return text;
}

char *frames_answer(const struct plan *plan, const struct frames_feed *feeds, size_t count,
                    size_t step)
{
    struct frames_msg msgs[16];
    assert(count <= 16);
    for (size_t i = 0; i < count; i++) {
        msgs[i] = (struct frames_msg){
            .group = feeds[i].group,
            .rank = feeds[i].rank,
            .msg = frames_make(feeds[i].text, 3 + i % 2, NULL),
        };
    }
    return frames_merge(plan, msgs, count, step);
}
