// SPDX-License-Identifier: Apache-2.0
#include "proto/request_rules.h"

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

static void add_violation(struct text *text, const struct request_rules *rules, const char *field,
                          const char *rule)
{
    add(text, "%sinvalid %s.%s: %s", text->len > 0 ? "; " : "", rules->type, field, rule);
}

/* All rules are evaluated; the violations are joined in field order. */
static bool check_fields(const struct request_rules *rules, struct error *err)
{
    struct text text = {.len = 0};
    if (rules->group_count == 0) {
        add_violation(&text, rules, "Groups", "value must contain at least 1 item(s)");
    }
    if (rules->name[0] == '\0') {
        add_violation(&text, rules, "Name", "value length must be at least 1 runes");
    }
    if (rules->time_range == NULL) {
        add_violation(&text, rules, "TimeRange", "value is required");
    }
    if (rules->top_n != NULL && *rules->top_n <= 0) {
        add_violation(&text, rules, "TopN", "value must be greater than 0");
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

void request_rules_range_text(const Banyandb__Model__V1__TimeRange *range, char *to, size_t size)
{
    struct text moments = {.len = 0};
    add_moment(&moments, "begin", range->begin);
    add_moment(&moments, "end", range->end);
    (void)snprintf(to, size, "%s", moments.bytes);
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
    char text[256];
    request_rules_range_text(range, text, sizeof text);
    return error_set(err, ERROR_INVALID_ARGUMENT, "%s is invalid :%s", text, fault);
}

bool request_rules_check_count(const char *field, size_t count, size_t max, struct error *err)
{
    return count <= max ||
           error_set(err, ERROR_INVALID_ARGUMENT, "%s has %zu names, at most %zu are accepted",
                     field, count, max);
}

bool request_rules_check(const struct request_rules *rules, struct error *err)
{
    return check_fields(rules, err) && check_time(rules->time_range, err) &&
           request_rules_check_count("groups", rules->group_count, REQUEST_RULES_MAX_GROUPS, err) &&
           request_rules_check_count("stages", rules->stage_count, REQUEST_RULES_MAX_STAGES, err);
}
