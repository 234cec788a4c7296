// SPDX-License-Identifier: Apache-2.0
/* Read the bytes, find the frame in them, decode it, show it; each step may be the last. */
#include "liaison/dump.h"

#include "frame/decode.h"
#include "frame/envelope.h"
#include "frame/msg.h"
#include "liaison/dump_text.h"
#include "liaison/own.h"
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
    char *text = own_checked(malloc(2 * bytes.len + 1));
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
    struct dump_text text = {0};
    while (name.len > 0) {
        size_t len = dump_text_character(name);
        for (size_t i = 0; i < len; i++) {
            dump_text_put(&text, "%c", name.ptr[i]);
        }
        if (len == 0) {
            len = 1;
            dump_text_put(&text, "\xEF\xBF\xBD");
        }
        name = slice_of(name.ptr + len, name.len - len);
    }
    json_t *json = json_stringn(text.ptr, text.len);
    dump_text_fini(&text);
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

static void put_notes(struct dump_text *text, const struct column *column)
{
    if (column->constant) {
        dump_text_put(text, column->null_count > 0 ? "constant, null" : "constant");
    } else if (column->null_count > 0) {
        dump_text_put(text, "%u null", column->null_count);
    } else {
        dump_text_put(text, "-");
    }
}

static void put_name(struct dump_text *text, const struct column *column)
{
    if (column->family.len > 0) {
        dump_text_plain(text, column->family);
        dump_text_put(text, ".");
    }
    dump_text_plain(text, column->name);
    if (column->family.len == 0 && column->name.len == 0) {
        dump_text_put(text, "(no name)");
    }
}

static void put_line(struct dump_text *text, const struct column *column, size_t line)
{
    if (line == LINE_NAME) {
        put_name(text, column);
    } else if (line == LINE_KIND) {
        dump_text_put(text, "%s %s", column_role_name((uint8_t)column->role),
                      column_type_name((uint8_t)column->type));
    } else if (line == LINE_NOTES) {
        put_notes(text, column);
    } else {
        dump_text_cell(text, column, line - LINE_ROWS);
    }
}

static size_t column_width(const struct column *column, size_t rows)
{
    size_t width = 0;
    size_t lines = LINE_ROWS + (column->constant ? 1 : rows);
    struct dump_text text = {0};
    for (size_t line = 0; line < lines; line++) {
        text.len = 0;
        put_line(&text, column, line);
        size_t characters = dump_text_characters(&text, 0);
        width = characters > width ? characters : width;
    }
    dump_text_fini(&text);
    return width;
}

static size_t *column_widths(const struct view *view)
{
    size_t *widths = own_array(view->column_count + 1, sizeof *widths);
    for (size_t i = 0; i < view->column_count; i++) {
        widths[i] = column_width(&view->columns[i], view->row_count);
    }
    return widths;
}

static void put_row(struct dump_text *text, const struct view *view, size_t line,
                    const size_t *widths)
{
    size_t blanks = 0; /* before a cell: none at the end of a line */
    if (line < LINE_ROWS) {
        dump_text_put(text, "%8s", line == LINE_NAME ? "row" : "");
    } else {
        dump_text_put(text, "%8zu", line - LINE_ROWS);
    }
    for (size_t i = 0; i < view->column_count; i++) {
        for (blanks += 2; blanks > 0; blanks--) {
            dump_text_put(text, " ");
        }
        size_t from = text->len;
        put_line(text, &view->columns[i], line);
        blanks = widths[i] - dump_text_characters(text, from);
    }
    dump_text_put(text, "\n");
}

bool dump_table(const struct view *view, FILE *out)
{
    size_t lines = view->column_count > 0 ? LINE_ROWS + view->row_count : 0;
    size_t *widths = column_widths(view);
    struct dump_text text = {0};
    dump_text_put(&text, "version %u, %zu rows, %zu columns\n", view->version, view->row_count,
                  view->column_count);
    bool good = fwrite(text.ptr, 1, text.len, out) == text.len;
    for (size_t line = 0; line < lines && good; line++) {
        text.len = 0;
        put_row(&text, view, line, widths);
        good = fwrite(text.ptr, 1, text.len, out) == text.len;
    }
    dump_text_fini(&text);
    free(widths);
    return good;
}

/* ---- the command */

struct dump {
    const char *path; /* borrow: argv */
    bool json;
    bool help;
};

static void complain(const char *path, const char *why)
{
    (void)fprintf(stderr, "frame: %s: %s\n", path, why);
}

/* As laid out when received: the frame on a multiple of 8, 16 readable bytes behind it. */
static struct msg *read_whole(FILE *file)
{
    size_t capacity = 65536;
    size_t len = 0;
    size_t count;
    uint8_t *bytes = own_checked(malloc(capacity));
    while ((count = fread(bytes + len, 1, capacity - len, file)) > 0) {
        len += count;
        if (len == capacity) {
            capacity *= 2;
            bytes = own_grow(bytes, capacity, 1);
        }
    }
    struct msg *msg = ferror(file) ? NULL : msg_copy_of(slice_of(bytes, len), NULL);
    free(bytes);
    return msg;
}

static struct msg *read_path(const char *path)
{
    if (strcmp(path, "-") == 0) {
        return read_whole(stdin);
    }
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    struct msg *msg = read_whole(file);
    int why = errno;
    (void)fclose(file); /* only read */
    errno = why;
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
        error_set(
            err, ERROR_DATA_LOSS,
            "byte 0x%02x found first, 0x00 of a frame expected; nor is there a frame in it as "
            "a SendResponse or InternalQueryResponse",
            bytes.ptr[0]);
        return false;
    }
    *frame_out = answer.frame;
    return true;
}

static bool write_json(const struct view *view, FILE *out)
{
    json_t *json = dump_json(view);
    bool good = json_dumpf(json, out, JSON_COMPACT) == 0 && fputc('\n', out) != EOF;
    json_decref(json);
    return good;
}

static bool show(const struct dump *dump, struct slice bytes, struct arena *arena,
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
        (void)fprintf(stderr, "frame: %zu bytes, found in %s\n", frame.len, what);
    }
    if (!decode_view(frame, DECODE_V3 | DECODE_V4, &room, &view, err)) {
        return false;
    }
    bool written = dump->json ? write_json(&view, stdout) : dump_table(&view, stdout);
    if (!written || fflush(stdout) != 0) {
        return error_set(err, ERROR_UNKNOWN, "not all could be written: %s", strerror(errno));
    }
    return true;
}

static const char usage[] =
    "usage: bydb-liaison frame [--json] FILE\n"
    "\n"
    "Shows the measure frame in FILE as a table, or as JSON; FILE - is standard input. The file\n"
    "holds a frame of version 3 or 4, or the bytes of a SendResponse or InternalQueryResponse\n"
    "with one in it.\n"
    "\n"
    "Exit status: 0 shown, 1 the file cannot be read or holds no frame, 2 wrong usage.\n";

static bool read_arguments(int argc, char **argv, struct dump *dump)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    *dump = (struct dump){0};
    optind = 0; /* glibc: begin anew, main may have read options before */
    int option;
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (option != 'j' && option != 'h') {
            return false;
        }
        dump->json = dump->json || option == 'j';
        dump->help = dump->help || option == 'h';
    }
    dump->path = argv[optind];
    return dump->help || argc - optind == 1;
}

int dump_main(int argc, char **argv)
{
    struct dump dump;
    if (!read_arguments(argc, argv, &dump)) {
        (void)fputs(usage, stderr);
        return EXIT_USAGE;
    }
    if (dump.help) {
        return fputs(usage, stdout) == EOF || fflush(stdout) != 0 ? EXIT_REFUSED : EXIT_SUCCESS;
    }
    struct msg *msg = read_path(dump.path);
    if (msg == NULL) {
        complain(dump.path, strerror(errno));
        return EXIT_REFUSED;
    }
    struct arena arena;
    struct error err = {0};
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    bool good = show(&dump, msg_bytes(msg), &arena, &err);
    if (!good) {
        complain(dump.path, err.text);
    }
    arena_fini(&arena);
    msg_release(&msg);
    return good ? EXIT_SUCCESS : EXIT_REFUSED;
}
