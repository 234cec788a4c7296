// SPDX-License-Identifier: Apache-2.0
/* A selector keeps one copy of its text; keys and values are slices of it. */
#include "liaison/cluster/selector.h"

#include "liaison/own.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum relation {
    RELATION_ABSENT,
    RELATION_PRESENT,
    RELATION_EQUAL,
    RELATION_DIFFERENT,
    RELATION_IN,
    RELATION_NOT_IN,
};

struct expression {
    enum relation relation;
    struct slice key;     /* borrow: the selector's text */
    struct slice *values; /* own */
    size_t value_count;
};

struct selector {
    char *text;              /* own */
    struct expression *list; /* own */
    size_t count;
};

/* The order in which operators are looked for. */
static const struct {
    const char *text;
    enum relation relation;
} operators[] = {
    {"!=", RELATION_DIFFERENT},
    {"=", RELATION_EQUAL},
    {" notin ", RELATION_NOT_IN},
    {" in ", RELATION_IN},
};

static struct slice trim(struct slice text)
{
    while (text.len > 0 && isspace(text.ptr[0])) {
        text = slice_of(text.ptr + 1, text.len - 1);
    }
    while (text.len > 0 && isspace(text.ptr[text.len - 1])) {
        text.len--;
    }
    return text;
}

/* Takes what stands before the next comma outside of parentheses. */
static struct slice take_expression(struct slice *rest)
{
    size_t depth = 0;
    size_t i = 0;
    for (; i < rest->len && (rest->ptr[i] != ',' || depth > 0); i++) {
        depth += rest->ptr[i] == '(' ? 1 : 0;
        depth -= rest->ptr[i] == ')' && depth > 0 ? 1 : 0;
    }
    const struct slice taken = slice_of(rest->ptr, i);
    const size_t skip = i < rest->len ? i + 1 : i;
    *rest = slice_of(rest->ptr + skip, rest->len - skip);
    return trim(taken);
}

static void add_value(struct expression *expression, struct slice value)
{
    expression->values =
        own_grow(expression->values, expression->value_count + 1, sizeof *expression->values);
    expression->values[expression->value_count++] = value;
}

/* "(a, b)" */
static const char *read_list(struct expression *expression, struct slice text)
{
    if (text.len < 2 || text.ptr[0] != '(' || text.ptr[text.len - 1] != ')') {
        return "set operations require parenthesized values";
    }
    struct slice rest = slice_of(text.ptr + 1, text.len - 2);
    while (rest.len > 0) {
        const void *comma = memchr(rest.ptr, ',', rest.len);
        const size_t len = comma == NULL ? rest.len : (size_t)((const uint8_t *)comma - rest.ptr);
        const struct slice value = trim(slice_of(rest.ptr, len));
        const size_t skip = comma == NULL ? len : len + 1;
        rest = slice_of(rest.ptr + skip, rest.len - skip);
        if (value.len > 0) {
            add_value(expression, value);
        }
    }
    return expression->value_count == 0 ? "empty value list" : NULL;
}

/* Letters beyond ASCII are let through: upstream takes every lower-case letter of Unicode. */
static bool is_key(struct slice key)
{
    for (size_t i = 0; i < key.len; i++) {
        const uint8_t byte = key.ptr[i];
        if (!islower(byte) && !isdigit(byte) && strchr("-_.", byte) == NULL && byte < 0x80) {
            return false;
        }
    }
    return true;
}

/* What stands on both sides of an operator. */
static const char *read_relation(struct expression *expression, enum relation relation,
                                 struct slice key, struct slice value)
{
    expression->relation = relation;
    expression->key = trim(key);
    if (relation == RELATION_IN || relation == RELATION_NOT_IN) {
        return read_list(expression, trim(value));
    }
    add_value(expression, trim(value));
    return NULL;
}

/* Splits at the first operator of the table that occurs; returns why not, or NULL. */
static const char *read_expression(struct expression *expression, struct slice text)
{
    if (text.ptr[0] == '!') {
        expression->relation = RELATION_ABSENT;
        expression->key = trim(slice_of(text.ptr + 1, text.len - 1));
        return NULL;
    }
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        const size_t len = strlen(operators[i].text);
        const uint8_t *at = memmem(text.ptr, text.len, operators[i].text, len);
        if (at != NULL) {
            const size_t before = (size_t)(at - text.ptr);
            return read_relation(expression, operators[i].relation, slice_of(text.ptr, before),
                                 slice_of(at + len, text.len - before - len));
        }
    }
    expression->relation = RELATION_PRESENT;
    expression->key = text;
    return NULL;
}

static bool add_expression(struct selector *selector, struct slice whole, struct slice text,
                           struct error *err)
{
    selector->list = own_grow(selector->list, selector->count + 1, sizeof *selector->list);
    struct expression *expression = &selector->list[selector->count++];
    *expression = (struct expression){0};
    const char *why = read_expression(expression, text);
    if (why == NULL && expression->key.len == 0) {
        why = "empty key";
    }
    if (why != NULL) {
        return error_set(err, ERROR_INVALID_ARGUMENT, "invalid selector \"%.*s\": %s",
                         SLICE_ARG(whole), why);
    }
    if (!is_key(expression->key)) {
        return error_set(err, ERROR_INVALID_ARGUMENT,
                         "invalid selector \"%.*s\": invalid key \"%.*s\": must match [a-z0-9-_.]",
                         SLICE_ARG(whole), SLICE_ARG(expression->key));
    }
    return true;
}

struct selector *selector_parse(struct slice text, struct error *err)
{
    struct selector *selector = own_array(1, sizeof *selector);
    selector->text = own_text_of(text.len == 0 ? "" : (const char *)text.ptr, text.len);
    const struct slice whole = slice_str(selector->text);
    struct slice rest = whole;
    while (rest.len > 0) {
        const struct slice expression = take_expression(&rest);
        if (expression.len > 0 && !add_expression(selector, whole, expression, err)) {
            selector_free(&selector);
            return NULL;
        }
    }
    return selector;
}

static bool holds(const struct expression *expression, const struct member *member)
{
    const char *found = NULL;
    for (size_t i = 0; i < member->label_count && found == NULL; i++) {
        if (slice_equal(slice_str(member->labels[i].key), expression->key)) {
            found = member->labels[i].value;
        }
    }
    bool listed = false;
    for (size_t i = 0; found != NULL && i < expression->value_count && !listed; i++) {
        listed = slice_equal(slice_str(found), expression->values[i]);
    }
    switch (expression->relation) {
    case RELATION_ABSENT:
        return found == NULL;
    case RELATION_PRESENT:
        return found != NULL;
    case RELATION_EQUAL:
    case RELATION_IN:
        return listed;
    case RELATION_DIFFERENT:
    case RELATION_NOT_IN:
        return !listed;
    }
    return false;
}

bool selector_match(const struct selector *selector, const struct member *member)
{
    for (size_t i = 0; i < selector->count; i++) {
        if (!holds(&selector->list[i], member)) {
            return false;
        }
    }
    return true;
}

void selector_free(struct selector **selector)
{
    struct selector *freed = *selector;
    *selector = NULL;
    if (freed == NULL) {
        return;
    }
    for (size_t i = 0; i < freed->count; i++) {
        free(freed->list[i].values);
    }
    free(freed->list);
    free(freed->text);
    free(freed);
}
