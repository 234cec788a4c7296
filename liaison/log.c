// SPDX-License-Identifier: Apache-2.0
/*
 * A line is put together in a buffer on the stack and written at once; what does not fit is cut
 * with the line still whole. The format is walked twice: up to "; " for the message, behind it for
 * the fields; both walks take their arguments from the same list, in the order they stand.
 */
#include "liaison/log.h"

#include "liaison/log_line.h"
#include "liaison/own.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>
#include <unistd.h>

#define LINE_TAIL     1536 /* kept free of fields: the time, the message, the end of the line */
#define MODULE_LEVELS 32

struct module_level {
    char *module; /* own */
    enum log_level level;
};

struct log {
    int fd; /* borrow: the caller closes it */
    enum log_form form;
    enum log_level level;
    size_t module_count;
    struct module_level modules[MODULE_LEVELS];
};

static const char *const level_names[] = {"trace", "debug", "info",  "warn",
                                          "error", "fatal", "panic", "disabled"};

struct log *log_new(int fd, enum log_form form, enum log_level level)
{
    struct log *log = own_array(1, sizeof *log);
    log->fd = fd;
    log->form = form;
    log->level = level;
    return log;
}

void log_module_level(struct log *log, const char *module, enum log_level level)
{
    if (log->module_count < MODULE_LEVELS) {
        log->modules[log->module_count++] =
            (struct module_level){.module = own_text(module), .level = level};
    }
}

bool log_level_read(const char *name, enum log_level *level_out)
{
    for (int i = LOG_TRACE; i <= LOG_DISABLED; i++) {
        if (strcasecmp(name, level_names[i]) == 0) {
            *level_out = (enum log_level)i;
            return true;
        }
    }
    return false;
}

void log_free(struct log **log)
{
    if (*log == NULL) {
        return;
    }
    for (size_t i = 0; i < (*log)->module_count; i++) {
        free((*log)->modules[i].module);
    }
    free(*log);
    *log = NULL;
}

/* "CLUSTER" rules "CLUSTER.NODE"; names compare without case, as operators write them. */
static bool rules(const char *ruler, const char *module)
{
    const size_t len = strlen(ruler);
    return strncasecmp(ruler, module, len) == 0 && (module[len] == '\0' || module[len] == '.');
}

bool log_wants(const struct log *log, enum log_level level, const char *module)
{
    if (log == NULL) {
        return false;
    }
    enum log_level least = log->level;
    size_t longest = 0;
    for (size_t i = 0; i < log->module_count; i++) {
        const size_t len = strlen(log->modules[i].module);
        if (len >= longest && rules(log->modules[i].module, module)) {
            longest = len;
            least = log->modules[i].level;
        }
    }
    return level >= least;
}

/* One conversion of the format with its argument */

#define ROOM 512 /* for a number, or a value made of several parts */

struct value {
    bool is_number;
    char room[ROOM];
    const char *text; /* borrow: the caller's argument, or `room` */
    size_t len;
};

enum length { LENGTH_INT, LENGTH_LONG, LENGTH_LONG_LONG, LENGTH_SIZE };

/* "l", "ll", "z" before the conversion. */
static const char *take_length(const char *at, enum length *length_out)
{
    *length_out = LENGTH_INT;
    if (at[0] == 'l' && at[1] == 'l') {
        *length_out = LENGTH_LONG_LONG;
        return at + 2;
    }
    if (at[0] == 'l' || at[0] == 'z') {
        *length_out = at[0] == 'l' ? LENGTH_LONG : LENGTH_SIZE;
        return at + 1;
    }
    return at;
}

/* NOLINTBEGIN(clang-analyzer-valist.Uninitialized): it does not see who began the list */
/* On every machine that this runs on, long, long long and size_t have 64 bits. */
static long long take_signed(enum length length, va_list *arguments)
{
    static_assert(sizeof(long) == sizeof(long long), "one conversion for both");
    return length == LENGTH_INT ? va_arg(*arguments, int) : va_arg(*arguments, long);
}

static unsigned long long take_unsigned(enum length length, va_list *arguments)
{
    static_assert(sizeof(size_t) == sizeof(unsigned long), "one conversion for both");
    return length == LENGTH_INT ? va_arg(*arguments, unsigned) : va_arg(*arguments, unsigned long);
}

/* NOLINTEND(clang-analyzer-valist.Uninitialized) */

static void take_string(bool measured, struct value *value, va_list *arguments)
{
    const int most = measured ? va_arg(*arguments, int) : 0;
    const char *text = va_arg(*arguments, const char *);
    value->text = text == NULL ? "" : text;
    value->len = !measured ? strlen(value->text) : text == NULL ? 0 : (size_t)MAX(most, 0);
}

/* The digits of "%.1f"; 3 when there are none. */
static const char *take_precision(const char *at, int *precision_out)
{
    *precision_out = 3;
    if (at[0] == '.' && at[1] >= '0' && at[1] <= '9') {
        *precision_out = at[1] - '0';
        return at + 2;
    }
    return at;
}

static void take_number(char conversion, enum length length, int precision, struct value *value,
                        va_list *arguments)
{
    int len = 0;
    if (conversion == 'd') {
        len = snprintf(value->room, ROOM, "%lld", take_signed(length, arguments));
    } else if (conversion == 'u') {
        len = snprintf(value->room, ROOM, "%llu", take_unsigned(length, arguments));
    } else if (conversion == 'f') {
        len = snprintf(value->room, ROOM, "%.*f", precision, va_arg(*arguments, double));
    } else {
        assert(!"a conversion that log.h does not list");
    }
    value->is_number = true;
    value->text = value->room;
    value->len = MIN((size_t)len, (size_t)ROOM - 1);
}

/* `at` stands behind the %; returns where the format goes on. */
static const char *take_value(const char *at, struct value *value, va_list *arguments)
{
    int precision;
    enum length length;
    const bool measured = at[0] == '.' && at[1] == '*';
    at = take_precision(at + (measured ? 2 : 0), &precision);
    at = take_length(at, &length);
    value->is_number = false;
    if (*at == 's') {
        take_string(measured, value, arguments);
    } else {
        take_number(*at, length, precision, value, arguments);
    }
    return at + 1;
}

/* All that stands before the next blank: one conversion, or several parts that make a text. */
static const char *take_field(const char *at, struct value *value, va_list *arguments)
{
    struct value part;
    *value = (struct value){.text = value->room};
    const char *next = *at == '%' ? take_value(at + 1, value, arguments) : at;
    if (next != at && (*next == ' ' || *next == '\0')) {
        return next;
    }
    size_t used = next == at ? 0 : MIN(value->len, (size_t)ROOM);
    memmove(value->room, value->text, used);
    while (*next != ' ' && *next != '\0') {
        const size_t plain = strcspn(next, "% ");
        part = (struct value){.text = next, .len = plain};
        next = plain > 0 ? next + plain : take_value(next + 1, &part, arguments);
        const size_t len = MIN(part.len, ROOM - used);
        memcpy(value->room + used, part.text, len);
        used += len;
    }
    value->is_number = false;
    value->text = value->room;
    value->len = used;
    return next;
}

/* The message: all of the format, or what stands before "; ". Escaped already. */
static const char *read_message(struct log_line *message, const char *format, va_list *arguments)
{
    struct value value;
    const char *end = strstr(format, "; ");
    end = end == NULL ? format + strlen(format) : end;
    for (const char *at = format; at < end;) {
        const size_t plain = MIN(strcspn(at, "%"), (size_t)(end - at));
        log_line_escape(message, at, plain);
        at += plain;
        if (at < end) {
            at = take_value(at + 1, &value, arguments);
            log_line_escape(message, value.text, value.len);
        }
    }
    return *end == '\0' ? end : end + 2;
}

static void json_value(struct log_line *line, const struct value *value, bool is_json)
{
    if (is_json || value->is_number) {
        log_line_add(line, value->text, value->len);
        return;
    }
    log_line_text(line, "\"");
    log_line_escape(line, value->text, value->len);
    log_line_text(line, "\"");
}

/* One field, as far as it fits: a field that does not is left out whole. */
static const char *read_field(struct log_line *line, enum log_form form, const char *at,
                              va_list *arguments)
{
    struct value value;
    const size_t key = strcspn(at, "=:");
    const size_t before = line->len;
    log_line_text(line, form == LOG_JSON ? "\"" : " ");
    log_line_add(line, at, key);
    log_line_text(line, form == LOG_JSON ? "\":" : "=");
    const bool is_json = at[key] == ':';
    assert(at[key] != '\0');
    at = take_field(at + key + 1, &value, arguments);
    if (line->len + value.len + 4 > line->limit) {
        value = (struct value){.text = "(too long)", .len = strlen("(too long)")};
    }
    json_value(line, &value, is_json && value.text[0] != '(');
    log_line_text(line, form == LOG_JSON ? "," : "");
    if (line->len + 4 > line->limit) {
        line->len = before;
    }
    return at + (*at == ' ' ? 1 : 0);
}

/* "2026-11-30T12:00:00Z", "…+01:00" */
static void line_date(struct log_line *line)
{
    char text[64];
    struct tm now;
    const time_t seconds = time(NULL);
    localtime_r(&seconds, &now);
    log_line_add(line, text, strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &now));
    if (now.tm_gmtoff == 0) {
        log_line_text(line, "Z");
        return;
    }
    const size_t len = strftime(text, sizeof text, "%z", &now); /* +0100 */
    log_line_add(line, text, 3);
    log_line_text(line, ":");
    log_line_add(line, text + 3, len - 3);
}

static void line_clock(struct log_line *line)
{
    char text[32];
    struct tm now;
    const time_t seconds = time(NULL);
    localtime_r(&seconds, &now);
    log_line_add(line, text, strftime(text, sizeof text, "%H:%M:%S", &now));
}

static void json_line(struct log_line *line, enum log_level level, const char *module,
                      const char *format, va_list *arguments)
{
    struct log_line message = {.limit = LINE_TAIL - 128};
    const char *at = read_message(&message, format, arguments);
    log_line_text(line, "{\"level\":\"");
    log_line_text(line, level_names[level]);
    log_line_text(line, "\",\"module\":\"");
    log_line_escape(line, module, strlen(module));
    log_line_text(line, "\",");
    while (*at != '\0') {
        at = read_field(line, LOG_JSON, at, arguments);
    }
    line->limit = LOG_LINE_SIZE;
    log_line_text(line, "\"time\":\"");
    line_date(line);
    log_line_text(line, "\",\"message\":\"");
    log_line_add(line, message.text, message.len);
    log_line_text(line, "\"}\n");
}

static void console_line(struct log_line *line, enum log_level level, const char *module,
                         const char *format, va_list *arguments)
{
    struct log_line message = {.limit = LINE_TAIL - 128};
    const char *at = read_message(&message, format, arguments);
    line_clock(line);
    log_line_text(line, " ");
    log_line_text(line, level_names[level]);
    log_line_text(line, " ");
    log_line_escape(line, module, strlen(module));
    log_line_text(line, ": ");
    log_line_add(line, message.text, message.len);
    while (*at != '\0') {
        at = read_field(line, LOG_CONSOLE, at, arguments);
    }
    line->limit = LOG_LINE_SIZE;
    log_line_text(line, "\n");
}

static void log_write(struct log *log, enum log_level level, const char *module, const char *format,
                      va_list *arguments)
{
    struct log_line line = {.limit = LOG_LINE_SIZE - LINE_TAIL};
    if (!log_wants(log, level, module)) {
        return;
    }
    if (log->form == LOG_JSON) {
        json_line(&line, level, module, format, arguments);
    } else {
        console_line(&line, level, module, format, arguments);
    }
    const int kept = errno;
    while (write(log->fd, line.text, line.len) < 0 && errno == EINTR) {
    }
    errno = kept;
}

#define LOG_FUNCTION(name, level)                                                                  \
    void name(struct log *log, const char *module, const char *format, ...)                        \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        log_write(log, level, module, format, &arguments);                                         \
        va_end(arguments);                                                                         \
    }

LOG_FUNCTION(log_debug, LOG_DEBUG)
LOG_FUNCTION(log_info, LOG_INFO)
LOG_FUNCTION(log_warn, LOG_WARN)
LOG_FUNCTION(log_error, LOG_ERROR)
