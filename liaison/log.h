// SPDX-License-Identifier: Apache-2.0
/*
 * One line on stderr for each event: JSON as the Go liaison writes it, or plain lines for eyes.
 *
 *     log_info(log, "CLUSTER", "node is up; node=%s address=%s calls=%zu", name, address, calls);
 *     {"level":"info","module":"CLUSTER","node":"d1:17912","address":"10.0.0.1:17912","calls":3,
 *      "time":"2026-11-30T12:00:00Z","message":"node is up"}
 *
 * The format is one literal, checked by the compiler: the message, then after "; " the fields,
 * each key=conversion, separated by single blanks; the values may hold anything. A field may be
 * made of several parts (addr=%s:%u), then it is a text. key:%s instead of key=%s says that the
 * value is JSON already. Conversions: s, .*s, d, u, f, .1f, with the lengths l, ll, z. The message
 * may hold conversions, too.
 *
 * A line is one write(2), so threads share a log without a lock. Nothing in a value can break the
 * line: control characters, quotes and bytes that are not UTF-8 are escaped.
 */
#pragma once

#include <stdbool.h>

enum log_level {
    LOG_TRACE,
    LOG_DEBUG,
    LOG_INFO,
    LOG_WARN,
    LOG_ERROR,
    LOG_FATAL,
    LOG_PANIC,
    LOG_DISABLED,
};

enum log_form { LOG_JSON, LOG_CONSOLE };

struct log;

/* Lines of at least this level go to the descriptor, which stays the caller's. */
struct log *log_new(int fd, enum log_form form, enum log_level level);
/* A level of its own for one module and what is below it ("CLUSTER" also rules "CLUSTER.NODE").
 * Before other threads use the log. */
void log_module_level(struct log *log, const char *module, enum log_level level);
/* "info" → LOG_INFO; false for a name that is none. */
bool log_level_read(const char *name, enum log_level *level_out);
void log_free(struct log **log);

/* Whether such a line would be written; for values that cost something to make. */
bool log_wants(const struct log *log, enum log_level level, const char *module);

/* A NULL log is allowed everywhere and swallows the line. */
void log_debug(struct log *log, const char *module, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void log_info(struct log *log, const char *module, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void log_warn(struct log *log, const char *module, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void log_error(struct log *log, const char *module, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
