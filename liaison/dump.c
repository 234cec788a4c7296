// SPDX-License-Identifier: Apache-2.0
/* Read the bytes, find the frame in them, decode it, show it; each step may be the last. */
#include "liaison/dump.h"

#include "frame/decode.h"
#include "frame/envelope.h"
#include "frame/msg.h"
#include "liaison/dump_text.h"
#include "merge/arena.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>

enum { EXIT_REFUSED = 1, EXIT_USAGE = 2 };

/* ---- JSON */

static json_t *json_hex(struct slice bytes)
{
    static const char digits[] = "0123456789abcdef";
    char *text = malloc(2 * bytes.len + 1);
    if (text == NULL) {
        abort();
    }
    for (size_t i = 0; i < bytes.len; i++) {
        text[2 * i] = digits[bytes.ptr[i] >> 4];
        text[2 * i + 1] = digits[bytes.ptr[i] & 15];
    }
    json_t *json = json_stringn(text, 2 * bytes.len);
    free(text);
    return json;
}

static json_t *json_value(const struct column *column, size_t row)
{
    if (column_is_null(column, row)) {
        return json_null();
    }
    if (column->type == COLUMN_INT64) {
        return json_sprintf("%" PRId64, column_int(column, row));
    }
    if (column->type == COLUMN_FLOAT64) {
        return json_sprintf("%016" PRIx64, column_bits(column, row));
    }
    return json_hex(column_bytes(column, row));
}

/* U+FFFD for each byte that is no part of a character. */
static json_t *json_repaired(struct slice name)
{
    char *text = malloc(3 * name.len + 1);
    if (text == NULL) {
        abort();
    }
    size_t at = 0;
    for (size_t i = 0; i < name.len;) {
        size_t len = dump_text_character(slice_of(name.ptr + i, name.len - i));
        if (len > 0) {
            memcpy(text + at, name.ptr + i, len);
            at += len;
            i += len;
        } else {
            memcpy(text + at, "\xEF\xBF\xBD", 3);
            at += 3;
            i += 1;
        }
    }
    json_t *json = json_stringn(text, at);
    free(text);
    return json;
}

static void json_name(json_t *object, const char *key, const char *hex_key, struct slice name)
{
    /* jansson refuses what is not UTF-8 */
    json_t *json = json_stringn(name.len > 0 ? (const char *)name.ptr : "", name.len);
    if (json != NULL) {
        json_object_set_new(object, key, json);
        return;
    }
    json_object_set_new(object, key, json_repaired(name));
    json_object_set_new(object, hex_key, json_hex(name));
}

static json_t *json_column(const struct column *column, size_t rows)
{
    json_t *object = json_object();
    json_object_set_new(object, "role", json_string(column_role_name((uint8_t)column->role)));
    json_object_set_new(object, "type", json_string(column_type_name((uint8_t)column->type)));
    json_name(object, "family", "family_hex", column->family);
    json_name(object, "name", "name_hex", column->name);
    json_object_set_new(object, "constant", json_boolean(column->constant));
    json_t *values = json_array();
    for (size_t row = 0; row < (column->constant ? 1 : rows); row++) {
        json_array_append_new(values, json_value(column, row));
    }
    json_object_set_new(object, "values", values);
    return object;
}

json_t *dump_json(const struct view *view)
{
    json_t *columns = json_array();
    for (size_t i = 0; i < view->column_count; i++) {
        json_array_append_new(columns, json_column(&view->columns[i], view->row_count));
    }
    json_t *document = json_object();
    json_object_set_new(document, "rows", json_integer((json_int_t)view->row_count));
    json_object_set_new(document, "columns", columns);
    return document;
}

/* ---- table */

/* What stands in a column's lines: 0 the name, 1 role and type, 2 constant and nulls, then rows. */
enum { LINE_NAME, LINE_KIND, LINE_NOTES, LINE_ROWS };

static void print_notes(const struct column *column, FILE *out)
{
    if (column->constant) {
        fputs(column->null_count > 0 ? "constant, null" : "constant", out);
    } else if (column->null_count > 0) {
        fprintf(out, "%u null", column->null_count);
    } else {
        fputc('-', out);
    }
}

static void print_name(const struct column *column, FILE *out)
{
    if (column->family.len > 0) {
        dump_text_plain(column->family, out);
        fputc('.', out);
    }
    dump_text_plain(column->name, out);
    if (column->family.len == 0 && column->name.len == 0) {
        fputs("(no name)", out);
    }
}

static void print_line(const struct column *column, size_t line, FILE *out)
{
    if (line == LINE_NAME) {
        print_name(column, out);
    } else if (line == LINE_KIND) {
        fprintf(out, "%s %s", column_role_name((uint8_t)column->role),
                column_type_name((uint8_t)column->type));
    } else if (line == LINE_NOTES) {
        print_notes(column, out);
    } else {
        dump_text_cell(column, line - LINE_ROWS, out);
    }
}

/* Prints one text padded to `width` characters; returns how many it has. out may be NULL. */
static size_t print_padded(const struct column *column, size_t line, size_t width, FILE *out)
{
    char *text = NULL;
    size_t len = 0;
    FILE *memory = open_memstream(&text, &len);
    if (memory == NULL) {
        abort();
    }
    print_line(column, line, memory);
    fclose(memory);
    size_t characters = 0;
    for (size_t i = 0; i < len; i++) {
        characters += ((unsigned char)text[i] & 0xC0) != 0x80;
    }
    if (out != NULL) {
        fprintf(out, "  %s%*s", text, (int)(width > characters ? width - characters : 0), "");
    }
    free(text);
    return characters;
}

static size_t column_width(const struct column *column, size_t rows)
{
    size_t width = 0;
    size_t lines = LINE_ROWS + (column->constant && rows > 1 ? 1 : rows);
    for (size_t line = 0; line < lines; line++) {
        size_t characters = print_padded(column, line, 0, NULL);
        width = characters > width ? characters : width;
    }
    return width;
}

static size_t *column_widths(const struct view *view)
{
    size_t *widths = calloc(view->column_count + 1, sizeof *widths);
    if (widths == NULL) {
        abort();
    }
    for (size_t i = 0; i < view->column_count; i++) {
        widths[i] = column_width(&view->columns[i], view->row_count);
    }
    return widths;
}

void dump_table(const struct view *view, FILE *out)
{
    static const char *const titles[LINE_ROWS] = {"row", "", ""};
    fprintf(out, "version %u, %zu rows, %zu columns\n", view->version, view->row_count,
            view->column_count);
    size_t *widths = column_widths(view);
    for (size_t line = 0; line < LINE_ROWS + view->row_count && view->column_count > 0; line++) {
        if (line < LINE_ROWS) {
            fprintf(out, "%8s", titles[line]);
        } else {
            fprintf(out, "%8zu", line - LINE_ROWS);
        }
        for (size_t i = 0; i < view->column_count; i++) {
            bool last = i + 1 == view->column_count; /* no blanks at the end of a line */
            print_padded(&view->columns[i], line, last ? 0 : widths[i], out);
        }
        fputc('\n', out);
    }
    free(widths);
}

/* ---- the command */

struct dump {
    const char *path; /* borrow: argv */
    bool json;
};

static bool read_whole(FILE *file, struct msg **msg_out)
{
    char *bytes = NULL;
    size_t len = 0;
    FILE *memory = open_memstream(&bytes, &len);
    if (memory == NULL) {
        abort();
    }
    char buf[65536];
    size_t count;
    while ((count = fread(buf, 1, sizeof buf, file)) > 0) {
        fwrite(buf, 1, count, memory);
    }
    bool good = !ferror(file);
    good = fclose(memory) == 0 && good;
    if (good) {
        *msg_out = msg_copy_of(slice_of(bytes, len), NULL);
    }
    free(bytes);
    return good;
}

static struct msg *read_path(const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    struct msg *msg = NULL;
    if (file == NULL || !read_whole(file, &msg)) {
        fprintf(stderr, "frame: %s: %s\n", path, strerror(errno));
    }
    if (file != NULL && file != stdin) {
        fclose(file);
    }
    return msg;
}

/* The frame in a SendResponse, or in an InternalQueryResponse of its own; *what_out names it. A
 * field 3 is the frame in both, and an InternalQueryResponse's trace reads as an error text. */
static bool find_frame(struct slice bytes, struct slice *frame_out, const char **what_out,
                       struct error *err)
{
    struct envelope envelope;
    struct answer answer;
    *what_out = NULL;
    if (bytes.len == 0 || bytes.ptr[0] == 0x00) {
        *frame_out = bytes;
        return true;
    }
    if (envelope_read(bytes, &envelope, NULL) && envelope.error.len == 0 &&
        envelope_answer(envelope.body, &answer, NULL) && answer.frame.len > 0) {
        *what_out = "a SendResponse";
    } else if (envelope_answer(bytes, &answer, NULL) && answer.frame.len > 0) {
        *what_out = "an InternalQueryResponse";
    } else {
        return error_set(err, ERROR_DATA_LOSS,
                         "byte 0x%02x found first, 0x00 of a frame expected; nor is there a frame "
                         "in it as a SendResponse or InternalQueryResponse",
                         bytes.ptr[0]);
    }
    *frame_out = answer.frame;
    return true;
}

static void show(const struct dump *dump, const struct view *view)
{
    if (!dump->json) {
        dump_table(view, stdout);
        return;
    }
    json_t *json = dump_json(view);
    json_dumpf(json, stdout, JSON_COMPACT);
    fputc('\n', stdout);
    json_decref(json);
}

static bool show_bytes(const struct dump *dump, struct slice bytes, struct arena *arena,
                       struct error *err)
{
    struct slice frame;
    const char *what = NULL;
    struct view view;
    struct room room = arena_room(arena);
    if (!find_frame(bytes, &frame, &what, err)) {
        return false;
    }
    if (what != NULL && !dump->json) {
        fprintf(stderr, "frame: %zu bytes, found in %s\n", frame.len, what);
    }
    if (!decode_view(frame, DECODE_V3 | DECODE_V4, &room, &view, err)) {
        return false;
    }
    show(dump, &view);
    return true;
}

static bool read_arguments(int argc, char **argv, struct dump *dump)
{
    static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {0}};
    *dump = (struct dump){0};
    optind = 0; /* glibc: begin anew, main may have read options before */
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option != 'j') {
            return false;
        }
        dump->json = true;
    }
    dump->path = argv[optind];
    return argc - optind == 1;
}

int dump_main(int argc, char **argv)
{
    struct dump dump;
    if (!read_arguments(argc, argv, &dump)) {
        fputs("usage: bydb-liaison frame [--json] FILE   (- reads standard input)\n", stderr);
        return EXIT_USAGE;
    }
    struct msg *msg = read_path(dump.path);
    if (msg == NULL) {
        return EXIT_REFUSED;
    }
    struct arena arena;
    struct error err = {0};
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    bool good = show_bytes(&dump, msg_bytes(msg), &arena, &err);
    if (!good) {
        fprintf(stderr, "frame: %s: %s\n", dump.path, err.text);
    }
    arena_fini(&arena);
    msg_release(&msg);
    return good && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_REFUSED;
}
