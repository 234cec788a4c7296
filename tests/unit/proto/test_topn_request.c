// SPDX-License-Identifier: Apache-2.0
/* TopN requests: what is refused and how, what is planned, and what nodes are sent. */
#include "proto/topn_request.h"
#include "tests/unit/frame/unit.h"
#include "tests/unit/proto/sample.h"
#include "tests/unit/proto/topn_sample.h"

#include <stdio.h>

#define RANGE    "\"timeRange\":{\"begin\":\"2026-11-30T10:50:30Z\",\"end\":\"2026-11-30T11:15:00Z\"}"
#define BEGIN_NS (INT64_C(1796035830) * 1000000000)
#define ASKED    "\"topN\":3,\"agg\":\"AGGREGATION_FUNCTION_MAX\",\"fieldValueSort\":\"SORT_DESC\""
/* A request of rule `name` to these groups; `more` begins with a comma or is empty. */
#define ASK(groups, name, more) "{\"groups\":[" groups "],\"name\":\"" name "\"," RANGE more "}"
#define FAULT(text)             "code: STATUS_INTERNAL_ERROR, msg: " text ": invalid query message"
#define TYPE_FAULT(name, text)                                                                     \
    FAULT("failed to determine field type for topN query " name ": " text)
#define NOT_FOUND "rpc error: code = NotFound desc = banyandb: resource not found"

static struct arena arena;
static struct catalog *catalog;
static struct topn_request request;
static struct error err;

static void set_up(void)
{
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    catalog = topn_sample_world();
}

static void tear_down(void)
{
    arena_fini(&arena);
    catalog_release(&catalog);
}

static struct slice bytes_of(const char *json)
{
    return sample_bytes(json, &banyandb__measure__v1__top_nrequest__descriptor, &arena);
}

static bool parse(const char *json)
{
    err = (struct error){.code = ERROR_NONE};
    return topn_request_parse(bytes_of(json), &arena, &request, &err);
}

static bool plan(const char *json)
{
    ck_assert_msg(parse(json), "%s: %s", json, err.text);
    return topn_request_plan_nodes(&request, catalog, "type=fast", &arena, &err) &&
           topn_request_plan(&request, catalog, &arena, &err);
}

struct refusal {
    const char *json;
    const char *text;
};

START_TEST(refused_by_itself)
{
    static const struct refusal table[] = {
        {"{}", "invalid TopNRequest.Groups: value must contain at least 1 item(s); invalid "
               "TopNRequest.Name: value length must be at least 1 runes; invalid "
               "TopNRequest.TimeRange: value is required; invalid TopNRequest.TopN: value must be "
               "greater than 0"},
        {ASK("\"g1\"", "both", ""), "invalid TopNRequest.TopN: value must be greater than 0"},
        {ASK("\"g1\"", "both", ",\"topN\":-1"),
         "invalid TopNRequest.TopN: value must be greater than 0"},
        {"{\"groups\":[\"g1\"],\"name\":\"both\",\"timeRange\":{}," ASKED "}",
         " is invalid :time is empty"},
        {"{\"groups\":[\"g1\"],\"name\":\"both\",\"timeRange\":{\"begin\":"
         "\"1970-01-01T00:00:01.000000005Z\",\"end\":\"1970-01-01T00:00:02Z\"}," ASKED "}",
         "begin:{seconds:1 nanos:5} end:{seconds:2} is invalid :time is not millisecond precision"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_msg(!parse(table[i].json), "row %zu", i);
        ck_assert_int_eq(err.code, ERROR_INVALID_ARGUMENT);
        ck_assert_str_eq(err.text, table[i].text);
    }
}
END_TEST

START_TEST(refused_as_bytes)
{
    static const uint8_t broken[] = {0x0a, 0x05, 'g'};
    static const uint8_t not_utf8[] = {0x0a, 0x01, 0xff};
    ck_assert(!topn_request_parse(slice_of(broken, sizeof broken), &arena, &request, &err));
    ck_assert_int_eq(err.code, ERROR_INTERNAL);
    ck_assert(!topn_request_parse(slice_of(not_utf8, sizeof not_utf8), &arena, &request, &err));
    ck_assert_int_eq(err.code, ERROR_INTERNAL);
    struct slice bytes = bytes_of(ASK("\"g1\"", "both", "," ASKED));
    struct arena tiny;
    arena_init(&tiny, 100, NULL, NULL);
    ck_assert(!topn_request_parse(bytes, &tiny, &request, &err));
    ck_assert_int_eq(err.code, ERROR_RESOURCE_EXHAUSTED);
    arena_fini(&tiny);
}
END_TEST

START_TEST(refused_by_the_catalog)
{
    static const struct refusal table[] = {
        {ASK("\"g1\"", "both", ",\"topN\":3,\"agg\":\"AGGREGATION_FUNCTION_MAX\""),
         FAULT("unspecified requested sort direction")},
        {ASK("\"g1\"", "both", ",\"topN\":3,\"agg\":2,\"fieldValueSort\":7"),
         FAULT("unknown requested sort direction 7, expected SORT_DESC (1) or SORT_ASC (2)")},
        {ASK("\"none\"", "both", ",\"topN\":3,\"fieldValueSort\":\"SORT_DESC\""),
         FAULT("unspecified requested aggregation function")},
        {ASK("\"none\"", "both", "," ASKED), FAULT("failed to load group none")},
        {ASK("\"g1\",\"none\"", "both", "," ASKED), FAULT("failed to load group none")},
        {ASK("\"staged\",\"none\"", "both", "," ASKED),
         FAULT("no stage found in request or default stages in resource opts")},
        {ASK("\"g1\"", "both", "," ASKED ",\"stages\":[\"warm\"]"), FAULT("no stage found")},
        {ASK("\"g1\"", "nope", "," ASKED),
         TYPE_FAULT("nope", "failed to get topN aggregation g1/nope: " NOT_FOUND)},
        {ASK("\"g1\",\"g2\"", "alone", "," ASKED),
         TYPE_FAULT("alone", "failed to get topN aggregation g2/alone: " NOT_FOUND)},
        {ASK("\"g1\"", "sourceless", "," ASKED),
         TYPE_FAULT("sourceless", "failed to get source measure gone: " NOT_FOUND)},
        {ASK("\"g1\"", "text", "," ASKED),
         TYPE_FAULT("text", "unsupported field type FIELD_TYPE_STRING for field s in topN "
                            "aggregation")},
        {ASK("\"g1\"", "fieldless", "," ASKED),
         TYPE_FAULT("fieldless", "field x not found in measure m")},
        {ASK("\"g1\",\"g2\"", "down", "," ASKED),
         FAULT("execute the query down: topN aggregation g2/down has field_value_sort SORT_ASC, "
               "found SORT_DESC in the request; ask for SORT_ASC, or query an aggregation of both "
               "directions (SORT_UNSPECIFIED)")},
        {ASK("\"g1\"", "both", ",\"topN\":3,\"agg\":99,\"fieldValueSort\":\"SORT_DESC\""),
         FAULT("execute the query both: unknown function:: unknown aggregation function")},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_msg(!plan(table[i].json), "row %zu", i);
        ck_assert_int_eq(err.code, ERROR_UNKNOWN);
        ck_assert_str_eq(err.text, table[i].text);
    }
}
END_TEST

START_TEST(planned)
{
    ck_assert_msg(plan(ASK("\"g1\"", "both", "," ASKED)), "%s", err.text);
    ck_assert_int_eq(request.plan.agg.function, PLAN_MAX);
    ck_assert_int_eq(request.plan.agg.type, PLAN_INT);
    ck_assert(!request.plan.ascending && !request.plan.every && !request.plan.agg.mean_floor);
    ck_assert_uint_eq(request.plan.number, 3);
    ck_assert(topn_plan_takes_best(&request.plan));
    ck_assert_uint_eq(request.groups[0].selector_count, 0);
    ck_assert_uint_eq(request.groups[0].replicas[0], 1);
    ck_assert_str_eq(request.groups[0].measure->metadata->name, "m");
    ck_assert_int_eq(request.rules[0].rule->counters_number, 1000);
    const struct interval_buckets *buckets = &request.rules[0].buckets;
    ck_assert_int_eq(buckets->interval, INT64_C(60000000000));
    ck_assert_int_eq(buckets->first, BEGIN_NS + INT64_C(30000000000));
    ck_assert_uint_eq(buckets->count, 25);
}
END_TEST

/* The second group's field is a float: so are the answer's values. */
START_TEST(planned_for_two_groups)
{
    ck_assert_msg(plan(ASK("\"g1\",\"g2\",\"g1\"", "both",
                           ",\"topN\":2147483647,\"agg\":\"AGGREGATION_FUNCTION_MEAN\","
                           "\"fieldValueSort\":\"SORT_ASC\"")),
                  "%s", err.text);
    ck_assert_uint_eq(request.group_count, 2);
    ck_assert_int_eq(request.plan.agg.function, PLAN_MEAN);
    ck_assert_int_eq(request.plan.agg.type, PLAN_FLOAT);
    ck_assert(request.plan.ascending);
    ck_assert(!topn_plan_takes_best(&request.plan));
    ck_assert_uint_eq(request.plan.number, INT32_MAX);
    ck_assert_uint_eq(request.rules[0].buckets.count, 25);
    ck_assert_uint_eq(request.rules[1].buckets.count, 5);
}
END_TEST

START_TEST(all_functions)
{
    static const enum plan_function functions[] = {
        [1] = PLAN_MEAN, [2] = PLAN_MAX, [3] = PLAN_MIN, [4] = PLAN_COUNT, [5] = PLAN_SUM};
    for (int agg = 1; agg <= 5; agg++) {
        char json[400];
        snprintf(json, sizeof json,
                 ASK("\"g1\"", "both", ",\"topN\":1,\"fieldValueSort\":1,\"agg\":%d"), agg);
        ck_assert(plan(json));
        ck_assert_int_eq(request.plan.agg.function, functions[agg]);
    }
}
END_TEST

START_TEST(stages_and_odd_intervals)
{
    ck_assert(plan(ASK("\"g1\",\"staged\"", "both", "," ASKED ",\"stages\":[\"Warm\",\"hot\"]")));
    ck_assert_uint_eq(request.groups[0].selector_count, 1);
    ck_assert(slice_equal(request.groups[0].selectors[0], slice_str("type=fast")));
    ck_assert_uint_eq(request.groups[1].selector_count, 2);
    ck_assert(plan(ASK("\"g2\"", "odd", "," ASKED)));
    ck_assert_int_eq(request.rules[0].buckets.interval, 0);
    ck_assert_uint_eq(request.rules[0].buckets.count, 0);
}
END_TEST

/* What nodes are sent, read by protobuf-c. */

static Banyandb__Measure__V1__TopNRequest *push(size_t group, const int64_t *bucket, int64_t number)
{
    struct slice bytes = topn_request_push(&request, group, bucket, number, &arena);
    Banyandb__Measure__V1__TopNRequest *sent =
        banyandb__measure__v1__top_nrequest__unpack(NULL, bytes.len, bytes.ptr);
    ck_assert_ptr_nonnull(sent);
    ck_assert_uint_eq(sent->n_groups, 1);
    ck_assert_str_eq(sent->name, "both");
    ck_assert_int_eq(sent->agg, 0);
    ck_assert_int_eq(sent->trace, request.trace);
    ck_assert_int_eq(sent->field_value_sort, BANYANDB__MODEL__V1__SORT__SORT_DESC);
    return sent;
}

START_TEST(pushed)
{
    ck_assert(plan(ASK("\"g1\",\"g2\"", "both",
                       "," ASKED ",\"trace\":true,\"stages\":[\"hot\"],\"conditions\":[{\"name\":"
                       "\"svc\",\"op\":\"BINARY_OP_EQ\",\"value\":{\"str\":{\"value\":\"x\"}}}]")));
    ck_assert(request.trace);
    Banyandb__Measure__V1__TopNRequest *sent = push(1, NULL, 3);
    ck_assert_str_eq(sent->groups[0], "g2");
    ck_assert_int_eq(sent->top_n, 3);
    ck_assert_int_eq(sent->time_range->begin->seconds, BEGIN_NS / 1000000000);
    ck_assert_uint_eq(sent->n_conditions, 1);
    ck_assert_str_eq(sent->conditions[0]->value->str->value, "x");
    ck_assert_uint_eq(sent->n_stages, 1);
    banyandb__measure__v1__top_nrequest__free_unpacked(sent, NULL);
}
END_TEST

START_TEST(pushed_for_one_bucket)
{
    ck_assert(plan(ASK("\"g1\"", "both", "," ASKED)));
    static const struct {
        int64_t bucket;
        int64_t seconds;
        int32_t nanos;
    } table[] = {{0, 0, 0}, {1500000000, 1, 500000000}, {-1, -1, 999999999}, {-2000000000, -2, 0}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        Banyandb__Measure__V1__TopNRequest *sent = push(0, &table[i].bucket, 1000);
        ck_assert_int_eq(sent->top_n, 1000);
        ck_assert_int_eq(sent->time_range->begin->seconds, table[i].seconds);
        ck_assert_int_eq(sent->time_range->begin->nanos, table[i].nanos);
        ck_assert_int_eq(sent->time_range->end->seconds, table[i].seconds);
        ck_assert_int_eq(sent->time_range->end->nanos, table[i].nanos);
        banyandb__measure__v1__top_nrequest__free_unpacked(sent, NULL);
    }
}
END_TEST

START_TEST(no_node_is_asked_for_more_than_it_can_bear)
{
    ck_assert(plan(ASK("\"g1\"", "both", "," ASKED)));
    static const int64_t numbers[] = {99999, 100000, 100001, INT32_MAX, INT64_MAX};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        Banyandb__Measure__V1__TopNRequest *sent = push(0, NULL, numbers[i]);
        ck_assert_int_eq(sent->top_n, numbers[i] < 100000 ? numbers[i] : 100000);
        banyandb__measure__v1__top_nrequest__free_unpacked(sent, NULL);
    }
}
END_TEST

/* Bytes that this version does not know, and values with a NUL, go on as they came. */
START_TEST(passed_on_as_it_came)
{
    static const uint8_t extra[] = {0xfa, 0x01, 0x03, 'n',  'e',  'w',            /* field 31 */
                                    0x32, 0x0d, 0x0a, 0x03, 's',  'v', 'c', 0x1a, /* a condition */
                                    0x06, 0x12, 0x04, 0x0a, 0x02, 'a', 0x00};
    struct slice known = bytes_of(ASK("\"g1\"", "both", "," ASKED));
    uint8_t *bytes = arena_alloc(&arena, known.len + sizeof extra, 1);
    memcpy(bytes, known.ptr, known.len);
    memcpy(bytes + known.len, extra, sizeof extra);
    ck_assert_msg(
        topn_request_parse(slice_of(bytes, known.len + sizeof extra), &arena, &request, &err), "%s",
        err.text);
    ck_assert(topn_request_plan_nodes(&request, catalog, "", &arena, &err));
    ck_assert(topn_request_plan(&request, catalog, &arena, &err));
    struct slice sent = topn_request_push(&request, 0, NULL, 3, &arena);
    ck_assert_uint_gt(sent.len, sizeof extra);
    ck_assert_mem_eq(sent.ptr + sent.len - sizeof extra, extra, sizeof extra);
}
END_TEST

START_TEST(wrapped)
{
    ck_assert(plan(ASK("\"g1\"", "both", "," ASKED)));
    error_set(&err, ERROR_DATA_LOSS, "node d1: broken");
    topn_request_wrap_error(&request, &err);
    ck_assert_int_eq(err.code, ERROR_UNKNOWN);
    ck_assert_str_eq(err.text, FAULT("execute the query both: node d1: broken"));
    error_set(&err, ERROR_UNAVAILABLE, "no");
    topn_request_wrap_error(&request, &err);
    ck_assert_int_eq(err.code, ERROR_UNAVAILABLE);
    ck_assert_str_eq(err.text, "no");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("proto topn_request");
    TCase *tests = tcase_create("topn_request");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, refused_by_itself);
    tcase_add_test(tests, refused_as_bytes);
    tcase_add_test(tests, refused_by_the_catalog);
    tcase_add_test(tests, planned);
    tcase_add_test(tests, planned_for_two_groups);
    tcase_add_test(tests, all_functions);
    tcase_add_test(tests, stages_and_odd_intervals);
    tcase_add_test(tests, pushed);
    tcase_add_test(tests, pushed_for_one_bucket);
    tcase_add_test(tests, no_node_is_asked_for_more_than_it_can_bear);
    tcase_add_test(tests, passed_on_as_it_came);
    tcase_add_test(tests, wrapped);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
