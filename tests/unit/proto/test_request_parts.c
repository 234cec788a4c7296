// SPDX-License-Identifier: Apache-2.0
/* Which requests may be asked for in parts, and what of a part reaches the nodes. */
#include "proto/moment.h"
#include "proto/request_parts.h"
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

#define BETWEEN(begin, end, more)                                                                  \
    "{\"groups\":[\"g1\"],\"name\":\"m\",\"timeRange\":{\"begin\":\"2026-11-30T" begin             \
    "Z\",\"end\":\"2026-11-30T" end "Z\"}," AGG("SUM", "v") more "}"
#define SUM(groups, more) ASK(groups, "," AGG("SUM", "v") more)
#define WHERE(tag)                                                                                 \
    "{\"condition\":{\"name\":\"" tag "\",\"op\":1,\"value\":{\"str\":{\"value\":\"x\"}}}}"
#define BOTH(left, right)                                                                          \
    "{\"le\":{\"op\":\"LOGICAL_OP_AND\",\"left\":" left ",\"right\":" right "}}"
#define ORDER(rule) ",\"orderBy\":{\"indexRuleName\":\"" rule "\"}"

/* g1 has the entity svc and rules on rank, env, and on svc and env together; those of g2 are about
 * zone; staged has none. */
static const struct {
    const char *asked;
    const char *obstacle; /* what it names; NULL: none */
} table[] = {
    {SUM("\"g1\"", ""), NULL},
    {SUM("\"g1\"", "," GROUP_BY("default", "\"svc\"")), NULL}, /* in a rule, but in the entity */
    {SUM("\"g1\"", ",\"criteria\":" WHERE("svc")), NULL},
    {SUM("\"g1\"", ORDER("by-rank") "," TAGS("default", "\"svc\"")), "rank"},
    {SUM("\"g1\"", "," GROUP_BY("other", "\"rank\"")), "rank"},
    {SUM("\"g1\"", "," TAGS("default", "\"svc\",\"env\"")), "env"},
    {SUM("\"g1\"", ",\"criteria\":" WHERE("env")), "env"},
    {SUM("\"g1\"", ",\"criteria\":" BOTH(WHERE("svc"), BOTH(WHERE("svc"), WHERE("rank")))), "rank"},
    {SUM("\"g1\"", ",\"criteria\":" BOTH(BOTH(WHERE("rank"), WHERE("svc")), WHERE("svc"))), "rank"},
    /* each group by its own rules, and by what it is asked for */
    {SUM("\"staged\"", "," TAGS("default", "\"svc\"") ",\"stages\":[\"hot\"]"), NULL},
    {SUM("\"g1\",\"g2\"", "," GROUP_BY("default", "\"svc\"")), NULL},
    {SUM("\"g1\",\"g2\"", "," TAGS("default", "\"svc\",\"zone\"")), "zone"},
    {SUM("\"g1\",\"g2\"", ",\"criteria\":" WHERE("zone")), "zone"},
    /* one segment has the range */
    {BETWEEN("10:45:00", "10:59:59.999", "," GROUP_BY("other", "\"rank\"")), NULL},
    {BETWEEN("10:45:00", "11:00:00", "," GROUP_BY("other", "\"rank\"")), "rank"},
    {BETWEEN("10:44:59.999", "10:50:00", "," GROUP_BY("other", "\"rank\"")), "rank"},
    {BETWEEN("10:45:00", "10:50:00", ",\"criteria\":" WHERE("env")), NULL},
};

START_TEST(obstacles)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_msg(asking_plan(&asking, table[i].asked), "row %zu: %s", i, asking.err.text);
        const char *obstacle = request_parts_obstacle(&asking.request, asking.world, &asking.arena);
        char named[64];
        snprintf(named, sizeof named, "the tag %s is indexed", table[i].obstacle);
        ck_assert_msg((obstacle == NULL) == (table[i].obstacle == NULL) &&
                          (obstacle == NULL || strstr(obstacle, named) != NULL),
                      "row %zu: %s", i, obstacle);
    }
}
END_TEST

START_TEST(index_mode)
{
    ck_assert(asking_plan(&asking, ASK("\"g1\",\"index\"", "")));
    const char *obstacle = request_parts_obstacle(&asking.request, asking.world, &asking.arena);
    ck_assert_ptr_nonnull(obstacle);
    ck_assert_ptr_nonnull(strstr(obstacle, "index mode"));
}
END_TEST

START_TEST(a_part_is_pushed)
{
    static const int64_t ends[][2] = {{-1, 0}, {INT64_MIN, INT64_MAX}, {1, 999999999}};
    ck_assert(asking_plan(&asking, SUM("\"g1\"", "")));
    for (size_t i = 0; i < 3; i++) {
        Banyandb__Model__V1__TimeRange range;
        banyandb__model__v1__time_range__init(&range);
        Google__Protobuf__Timestamp begin = moment_timestamp(ends[i][0]);
        Google__Protobuf__Timestamp end = moment_timestamp(ends[i][1]);
        range.begin = &begin;
        range.end = &end;
        struct slice pushed = request_push_part(&asking.request, 0, &range, &asking.arena);
        Banyandb__Measure__V1__InternalQueryRequest *message =
            banyandb__measure__v1__internal_query_request__unpack(NULL, pushed.len, pushed.ptr);
        ck_assert_ptr_nonnull(message);
        const Banyandb__Model__V1__TimeRange *got = message->request->time_range;
        ck_assert_int_eq(moment_nanos(moment_of(got->begin)), ends[i][0]);
        ck_assert_int_eq(moment_nanos(moment_of(got->end)), ends[i][1]);
        ck_assert_uint_eq(message->request->limit, UINT32_MAX);
        banyandb__measure__v1__internal_query_request__free_unpacked(message, NULL);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("request_parts");
    TCase *tcase = tcase_create("parts");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, obstacles);
    tcase_add_test(tcase, index_mode);
    tcase_add_test(tcase, a_part_is_pushed);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
