// SPDX-License-Identifier: Apache-2.0
/* Bytes → request: what needs no schema. */
#include "proto/pbw.h"
#include "tests/unit/proto/asking.h"

static struct asking asking;

static void set_up(void)
{
    asking_begin(&asking);
}

static void tear_down(void)
{
    asking_end(&asking);
}

START_TEST(refused)
{
    static const struct {
        const char *json;
        const char *text;
    } table[] = {
        {"{}", "invalid QueryRequest.Groups: value must contain at least 1 item(s); invalid "
               "QueryRequest.Name: value length must be at least 1 runes; invalid "
               "QueryRequest.TimeRange: value is required"},
        {"{\"groups\":[\"g\"]," RANGE "}",
         "invalid QueryRequest.Name: value length must be at least 1 runes"},
        {"{\"groups\":[\"g\"],\"name\":\"m\",\"timeRange\":{}}", " is invalid :time is empty"},
        {"{\"groups\":[\"g\"],\"name\":\"m\",\"timeRange\":{\"begin\":\"1970-01-01T00:00:00Z\"}}",
         "begin:{} is invalid :time is empty"},
        {"{\"groups\":[\"g\"],\"name\":\"m\",\"timeRange\":{\"end\":\"1970-01-01T00:00:02Z\"}}",
         "end:{seconds:2} is invalid :time is empty"},
        {"{\"groups\":[\"g\"],\"name\":\"m\",\"timeRange\":{\"begin\":"
         "\"1970-01-01T00:00:01.000000005Z\",\"end\":\"1970-01-01T00:00:02Z\"}}",
         "begin:{seconds:1 nanos:5} end:{seconds:2} is invalid :time is not millisecond precision"},
        {"{\"groups\":[\"g\"],\"name\":\"m\",\"timeRange\":{\"begin\":\"1970-01-01T00:00:00.5Z\","
         "\"end\":\"2263-01-01T00:00:00Z\"}}",
         "begin:{nanos:500000000} end:{seconds:9246182400} is invalid :time is out of range "
         "-9223372036854775808 - 9223372036854775807"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_msg(!asking_parse(&asking, table[i].json), "row %zu", i);
        ck_assert_int_eq(asking.err.code, ERROR_INVALID_ARGUMENT);
        ck_assert_str_eq(asking.err.text, table[i].text);
    }
}
END_TEST

START_TEST(accepted)
{
    /* An inverted range, an empty group, unknown enum numbers: somebody else's business. */
    static const char *const table[] = {
        ASK("\"\"", ""),
        "{\"groups\":[\"g\"],\"name\":\"m\",\"timeRange\":{\"begin\":\"2026-11-30T11:15:00Z\","
        "\"end\":\"2026-11-30T10:50:00Z\"}}",
        ASK("\"g\"", ",\"orderBy\":{\"sort\":77}"),
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_msg(asking_parse(&asking, table[i]), "row %zu: %s", i, asking.err.text);
    }
    ck_assert(!asking.request.trace);
    ck_assert(asking_parse(&asking, ASK("\"g\"", ",\"trace\":true")));
    ck_assert(asking.request.trace);
}
END_TEST

START_TEST(repeated_groups)
{
    ck_assert(asking_parse(&asking, ASK("\"b\",\"a\",\"b\",\"\",\"a\",\"c\",\"\",\"aa\"", "")));
    static const char *const distinct[] = {"b", "a", "", "c", "aa"};
    ck_assert_uint_eq(asking.request.group_count, 5);
    for (size_t i = 0; i < 5; i++) {
        ck_assert(slice_equal(asking.request.groups[i].name, slice_str(distinct[i])));
    }
}
END_TEST

static struct slice many(size_t count, const char *field)
{
    size_t len = strlen(field);
    uint8_t *bytes = arena_alloc(&asking.arena, count * len, 1);
    for (size_t i = 0; i < count; i++) {
        memcpy(bytes + i * len, field, len);
    }
    return slice_of(bytes, count * len);
}

START_TEST(limits)
{
    /* A group of an empty name 100,000 times: 200 KB that would take 20 MB. */
    struct arena small;
    arena_init(&small, 1 << 20, NULL, NULL);
    uint8_t field[] = {0x0a, 0};
    struct slice one = slice_of(field, 2);
    uint8_t *bytes = arena_alloc(&asking.arena, 200000, 1);
    for (size_t i = 0; i < 200000; i += 2) {
        memcpy(bytes + i, one.ptr, 2);
    }
    ck_assert(!request_parse(slice_of(bytes, 200000), &small, &asking.request, &asking.err));
    ck_assert_int_eq(asking.err.code, ERROR_RESOURCE_EXHAUSTED);
    ck_assert_ptr_nonnull(strstr(asking.err.text, "the request of 200000 bytes takes about "));
    ck_assert(!arena_over(&small));
    arena_fini(&small);
}
END_TEST

/* More names than any schema has. */
START_TEST(too_many_names)
{
    static const struct {
        const char *field;
        const char *text;
    } table[] = {
        {"\x0a\x01x", "groups has 1002 names, at most 1000 are accepted"},
        {"\x72\x01x", "stages has 1001 names, at most 1000 are accepted"},
        {"\x92\x03\x03\x0a\x01x", "group_mod_revisions has 1001 names, at most 1000 are accepted"},
    };
    const struct slice good = sample_request(ASK("\"g\"", ""), &asking.arena);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct slice names = many(1001, table[i].field);
        uint8_t *both = arena_alloc(&asking.arena, good.len + names.len, 1);
        uint8_t *end = pbw_copy(pbw_copy(both, good), names);
        const struct slice request = slice_of(both, (size_t)(end - both));
        ck_assert(!request_parse(request, &asking.arena, &asking.request, &asking.err));
        ck_assert_int_eq(asking.err.code, ERROR_INVALID_ARGUMENT);
        ck_assert_str_eq(asking.err.text, table[i].text);
    }
}
END_TEST

START_TEST(wrapped_errors)
{
    static const struct {
        enum error_code code;
        bool kept;
    } table[] = {
        {ERROR_UNKNOWN, false},           {ERROR_DATA_LOSS, false},        {ERROR_INTERNAL, false},
        {ERROR_RESOURCE_EXHAUSTED, true}, {ERROR_DEADLINE_EXCEEDED, true}, {ERROR_CANCELLED, true},
        {ERROR_UNIMPLEMENTED, true},      {ERROR_UNAVAILABLE, true},
    };
    ck_assert(asking_parse(&asking, ASK("\"g\"", "")));
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        error_set(&asking.err, table[i].code, "why");
        request_wrap_error(&asking.request, &asking.err);
        ck_assert_int_eq(asking.err.code, table[i].kept ? table[i].code : ERROR_UNKNOWN);
        ck_assert_str_eq(asking.err.text,
                         table[i].kept ? "why"
                                       : "code: STATUS_INTERNAL_ERROR, msg: fail to execute the "
                                         "query plan for measure m: why: invalid query message");
    }
    /* A long reason is cut, the words around it are not. */
    error_set(&asking.err, ERROR_UNKNOWN, "%*s", (int)sizeof asking.err.text - 20, "x");
    request_wrap_error(&asking.request, &asking.err);
    static const char end[] = "...: invalid query message";
    size_t len = strlen(asking.err.text);
    ck_assert_uint_lt(len, sizeof asking.err.text);
    ck_assert_str_eq(asking.err.text + len - strlen(end), end);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("request");
    TCase *tcase = tcase_create("request");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, refused);
    tcase_add_test(tcase, accepted);
    tcase_add_test(tcase, repeated_groups);
    tcase_add_test(tcase, limits);
    tcase_add_test(tcase, too_many_names);
    tcase_add_test(tcase, wrapped_errors);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
