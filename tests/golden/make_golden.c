// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the sample frames of tests/golden/ anew: make_golden FOLDER. Run by hand when a layout
 * changes; the diff of the .json files then shows what the change means.
 */
#include "frame/decode.h"
#include "liaison/dump.h"
#include "tests/support/frame_builder.h"
#include "tests/support/frame_random.h"
#include "tests/support/frame_test.h"

#include <stdlib.h>

static const char *folder;
static json_t *reasons;

static FILE *create(const char *sub, const char *name, const char *ending)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s/%s%s", folder, sub, name, ending);
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    return file;
}

static void write_bytes(const char *sub, const char *name, struct slice bytes)
{
    FILE *file = create(sub, name, ".bin");
    fwrite(bytes.ptr, 1, bytes.len, file);
    fclose(file);
}

/* One good frame of each version, v3-NAME and v4-NAME. */
static void write_good(const char *name, struct frame_builder *builder)
{
    for (unsigned version = 3; version <= 4; version++) {
        char versioned[64];
        (void)snprintf(versioned, sizeof versioned, "v%u-%s", version, name);
        size_t len;
        uint8_t *frame = frame_builder_encode(builder, version, &len);
        struct test_room room;
        test_room_init(&room);
        struct view view;
        struct error err;
        if (!decode_view(slice_of(frame, len), DECODE_V3 | DECODE_V4, &room.room, &view, &err)) {
            fprintf(stderr, "%s: %s\n", versioned, err.text);
            exit(1);
        }
        write_bytes("good", versioned, slice_of(frame, len));
        FILE *file = create("good", versioned, ".json");
        json_t *json = dump_json(&view);
        json_dumpf(json, file, JSON_INDENT(1));
        fputc('\n', file);
        fclose(file);
        json_decref(json);
        test_room_fini(&room);
        free(frame);
    }
    frame_builder_free(&builder);
}

static void write_empty(void)
{
    write_good("nothing", frame_builder_new(0));
    struct frame_builder *b = frame_builder_new(0);
    frame_builder_column(b, COLUMN_TIMESTAMP, COLUMN_INT64, NULL, "");
    frame_builder_column(b, COLUMN_TAG, COLUMN_TAG_VALUE, "default", "svc");
    frame_builder_column(b, COLUMN_FIELD, COLUMN_FIELD_VALUE, NULL, "value");
    write_good("no-rows", b);
}

static void write_metadata(struct frame_builder *b, size_t rows)
{
    static const enum column_role roles[] = {COLUMN_TIMESTAMP, COLUMN_VERSION, COLUMN_SERIES,
                                             COLUMN_SHARD};
    static const int64_t firsts[] = {1700000000000000000, 1, -42, 0};
    static const int64_t steps[] = {60000000000, 1, 0, 0};
    for (size_t i = 0; i < 4; i++) {
        frame_builder_column(b, roles[i], COLUMN_INT64, NULL, "");
        for (size_t row = 0; row < rows; row++) {
            frame_builder_int(b, firsts[i] + (int64_t)row * steps[i]);
        }
    }
}

/* A row frame as nodes send it: metadata without names, tags and fields with nulls. */
static void write_rows(void)
{
    struct frame_builder *b = frame_builder_new(9);
    write_metadata(b, 9);
    frame_builder_column(b, COLUMN_TAG, COLUMN_STRING, "default", "svc");
    for (size_t row = 0; row < 9; row++) {
        frame_builder_text(b, row % 2 == 0 ? "frontend" : "");
    }
    frame_builder_column(b, COLUMN_TAG, COLUMN_BYTES, "default", "binary");
    for (size_t row = 0; row < 9; row++) {
        frame_builder_bytes(b, slice_of("\x00\xff\x80", row % 4));
    }
    frame_builder_column(b, COLUMN_FIELD, COLUMN_FLOAT64, NULL, "latency");
    for (size_t row = 0; row < 8; row++) {
        frame_builder_float(b, (double)row / 4 - 1);
    }
    frame_builder_null(b);
    write_good("rows", b);
}

/* Cells of TagValue and FieldValue in all variants, one of them malformed. */
static void write_values(void)
{
    static const char *const tags[] = {
        "",           "0800",          "1203 0a 01 61", "1a06 0a 01 61 0a 01 62",
        "2202 08 2a", "2a03 0a 01 05", "3202 00ff",     "3a04 0801 1002",
        "ff",
    };
    static const char *const fields[] = {
        "",     "0800", "1203 0a 01 61", "1a02 08 2a", "2202 00ff", "2a09 09 000000000000f83f",
        "1a00", "0a00", "12030a0261",
    };
    uint8_t cell[64];
    struct frame_builder *b = frame_builder_new(10);
    frame_builder_column(b, COLUMN_TAG, COLUMN_TAG_VALUE, "default", "t");
    for (size_t i = 0; i < 9; i++) {
        frame_builder_bytes(b, slice_of(cell, hex_bytes(tags[i], cell, sizeof cell)));
    }
    frame_builder_null(b);
    frame_builder_column(b, COLUMN_FIELD, COLUMN_FIELD_VALUE, NULL, "f");
    for (size_t i = 0; i < 9; i++) {
        frame_builder_bytes(b, slice_of(cell, hex_bytes(fields[i], cell, sizeof cell)));
    }
    frame_builder_null(b);
    write_good("values", b);
}

static void write_constants(void)
{
    struct frame_builder *b = frame_builder_new(50);
    frame_builder_column(b, COLUMN_SHARD, COLUMN_INT64, NULL, "shard_id");
    frame_builder_constant(b);
    frame_builder_int(b, 7);
    frame_builder_column(b, COLUMN_TAG, COLUMN_STRING, "default", "svc");
    frame_builder_constant(b);
    frame_builder_text(b, "frontend");
    frame_builder_column(b, COLUMN_TAG, COLUMN_STRING, "default", "layer");
    frame_builder_constant(b);
    frame_builder_null(b);
    frame_builder_column(b, COLUMN_FIELD, COLUMN_FLOAT64, NULL, "value__agg_count");
    frame_builder_constant(b);
    frame_builder_float(b, -0.0);
    write_good("constants", b);
}

static void write_names(void)
{
    struct column like = {.role = COLUMN_TAG,
                          .type = COLUMN_STRING,
                          .name = slice_of("caf\xC3\xA9 \xFF\x80", 8),
                          .family = slice_of("\xED\xA0\x80", 3)};
    struct frame_builder *b = frame_builder_new(1);
    frame_builder_column_like(b, &like);
    frame_builder_bytes(b, slice_of("\xC3", 1));
    like.name = slice_of("caf\xC3\xA9\n\"\0", 8);
    like.family = slice_of("", 0);
    frame_builder_column_like(b, &like);
    frame_builder_text(b, "caf\xC3\xA9");
    write_good("names", b);
}

static void write_broken(const char *name, const char *hex, const char *reason)
{
    uint8_t bytes[512];
    write_bytes("broken", name, slice_of(bytes, hex_bytes(hex, bytes, sizeof bytes)));
    json_object_set_new(reasons, name, json_string(reason));
}

#define HEAD "00564652 04 000000 02000000 01000000 "

static void write_all_broken(void)
{
    write_broken("empty", "", "at least the 5 of magic and version expected");
    write_broken("magic", "00564651 04", "magic 00564651 found");
    write_broken("version-5", "00564652 05 000000 00000000 00000000", "not upgraded as a whole");
    write_broken("v3-rows", "00564652 03 7f 01", "127 rows found");
    write_broken("v3-spare-bit", "00564652 03 01 01 06 03 00 00 02 00",
                 "spare bits set after row 1");
    write_broken("v3-long-varint", "00564652 03 01 01 06 03 00 00 00 8000", "row 0");
    write_broken("v3-tag-type", "00564652 03 00 01 05 06 00 00", "tag with type field_value");
    write_broken("v4-rows",
                 "00564652 04 000000 ffffffff 01000000 0101 0000 0000 0000 00000000 "
                 "08000000 0000000000000000",
                 "values length 8 found");
    write_broken("v4-offsets",
                 HEAD "0503 0000 0000 0000 00000000 02000000 "
                      "00000000 03000000 02000000 00000000 6162000000000000",
                 "offset 2: 2 found, at least 3 expected");
    write_broken("v4-null-count",
                 HEAD "0602 0100 0100 0000 02000000 10000000 7600000000000000 "
                      "0100000000000000 0000000000000000 0000000000000000",
                 "column 0 (v): null count 2 found");
    write_broken("v4-budget",
                 "00564652 04 000000 00000004 01000000 0602 0200 0000 0000 00000000 "
                 "08000000 0000000000000000",
                 "constants that expand to 536870912 bytes");
    write_broken("v4-rest", HEAD "0301 0200 0000 0000 00000000 08000000 2a00000000000000 00",
                 "1 bytes found after the last column");
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: make_golden FOLDER\n", stderr);
        return 2;
    }
    folder = argv[1];
    reasons = json_object();
    write_empty();
    write_rows();
    write_values();
    write_constants();
    write_names();
    uint64_t seed = 20240607;
    for (size_t i = 0; i < 3; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "random-%zu", i);
        write_good(name, frame_random(&seed, 12));
    }
    write_all_broken();
    FILE *file = create("broken", "reasons", ".json");
    json_dumpf(reasons, file, JSON_INDENT(1));
    fputc('\n', file);
    fclose(file);
    json_decref(reasons);
    return 0;
}
