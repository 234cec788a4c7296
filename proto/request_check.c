// SPDX-License-Identifier: Apache-2.0
#include "proto/request_check.h"

#include "proto/moment.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A short text in the making; a surplus is cut. */
struct text {
    char bytes[512];
    size_t len;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *fmt, ...)
{
    va_list arguments;
    va_start(arguments, fmt);
    int len = vsnprintf(text->bytes + text->len, sizeof text->bytes - text->len, fmt, arguments);
    va_end(arguments);
    text->len += len > 0 ? (size_t)len : 0;
    text->len = text->len < sizeof text->bytes ? text->len : sizeof text->bytes - 1;
}

static void add_violation(struct text *text, const char *field, const char *rule)
{
    add(text, "%sinvalid QueryRequest.%s: %s", text->len > 0 ? "; " : "", field, rule);
}

/* All rules are evaluated; the violations are joined in field order. */
static bool check_rules(const Banyandb__Measure__V1__QueryRequest *message, struct error *err)
{
    struct text text = {.len = 0};
    if (message->n_groups == 0) {
        add_violation(&text, "Groups", "value must contain at least 1 item(s)");
    }
    if (message->name[0] == '\0') {
        add_violation(&text, "Name", "value length must be at least 1 runes");
    }
    if (message->time_range == NULL) {
        add_violation(&text, "TimeRange", "value is required");
    }
    return text.len == 0 || error_set(err, ERROR_INVALID_ARGUMENT, "%s", text.bytes);
}

/* As the Go implementation prints messages for debugging: fields that are 0 are left out. */
static void add_moment(struct text *text, const char *name,
                       const Google__Protobuf__Timestamp *moment)
{
    if (moment == NULL) {
        return;
    }
    add(text, "%s%s:{", text->len > 0 ? " " : "", name);
    if (moment->seconds != 0) {
        add(text, "seconds:%lld", (long long)moment->seconds);
    }
    if (moment->nanos != 0) {
        add(text, "%snanos:%d", moment->seconds != 0 ? " " : "", (int)moment->nanos);
    }
    add(text, "}");
}

/* NULL = nothing is wrong. */
static const char *moment_fault(const Google__Protobuf__Timestamp *moment)
{
    if (moment == NULL) {
        return "time is empty";
    }
    if (!moment_has_nanos(moment_of(moment))) {
        return "time is out of range -9223372036854775808 - 9223372036854775807";
    }
    return moment->nanos % 1000000 == 0 ? NULL : "time is not millisecond precision";
}

static bool check_time(const Banyandb__Model__V1__TimeRange *range, struct error *err)
{
    const char *fault = moment_fault(range->begin);
    fault = fault != NULL ? fault : moment_fault(range->end);
    if (fault == NULL) {
        return true;
    }
    struct text text = {.len = 0};
    add_moment(&text, "begin", range->begin);
    add_moment(&text, "end", range->end);
    return error_set(err, ERROR_INVALID_ARGUMENT, "%s is invalid :%s", text.bytes, fault);
}

static bool check_count(const char *what, size_t count, size_t max, struct error *err)
{
    return count <= max ||
           error_set(err, ERROR_INVALID_ARGUMENT, "%s has %zu names, at most %zu are accepted",
                     what, count, max);
}

static bool check_counts(const Banyandb__Measure__V1__QueryRequest *message, struct error *err)
{
    size_t tags = 0;
    for (size_t i = 0;
         message->tag_projection != NULL && i < message->tag_projection->n_tag_families; i++) {
        tags += 1 + message->tag_projection->tag_families[i]->n_tags;
    }
    size_t fields = message->field_projection == NULL ? 0 : message->field_projection->n_names;
    return check_count("tag_projection", tags, REQUEST_CHECK_MAX_NAMES, err) &&
           check_count("field_projection", fields, REQUEST_CHECK_MAX_NAMES, err) &&
           check_count("stages", message->n_stages, REQUEST_CHECK_MAX_STAGES, err);
}

bool request_check(const Banyandb__Measure__V1__QueryRequest *message, struct error *err)
{
    return check_rules(message, err) && check_time(message->time_range, err) &&
           check_counts(message, err);
}
