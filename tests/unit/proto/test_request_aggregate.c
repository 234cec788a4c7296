// SPDX-License-Identifier: Apache-2.0
/* group_by, agg and top in the plan, and the columns of several groups that they need. */
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

static const struct plan *plan(const char *json)
{
    ck_assert_msg(asking_plan(&asking, json), "%s: %s", json, asking.err.text);
    return &asking.request.plan;
}

static bool is(struct slice slice, const char *text)
{
    return slice_equal(slice, slice_str(text));
}

START_TEST(keys)
{
    ck_assert_uint_eq(plan(ASK("\"g1\"", ""))->key_count, 0);
    const struct plan *made = plan(ASK("\"g1\"", "," GROUP_BY("other", "\"rank\",\"env\"")));
    ck_assert_uint_eq(made->key_count, 2);
    ck_assert(is(made->keys[0].family, "other") && is(made->keys[0].name, "rank"));
    ck_assert(is(made->keys[1].family, "other") && is(made->keys[1].name, "env"));
    ck_assert_int_eq(made->mode, PLAN_ROWS);
    /* named again it makes no other groups */
    made = plan(ASK("\"g1\"", "," GROUP_BY("other", "\"env\",\"rank\",\"env\",\"env\"")));
    ck_assert_uint_eq(made->key_count, 2);
    ck_assert(is(made->keys[0].name, "env") && is(made->keys[1].name, "rank"));
}
END_TEST

START_TEST(too_many_keys)
{
    static char json[100000];
    size_t len = (size_t)snprintf(json, sizeof json,
                                  "{\"groups\":[\"g1\"],\"name\":\"m\"," RANGE
                                  ",\"groupBy\":{\"tagProjection\":{\"tagFamilies\":[{\"tags\":[");
    for (int i = 0; i < 10000; i++) {
        len += (size_t)snprintf(json + len, sizeof json - len, "\"svc\",");
    }
    snprintf(json + len, sizeof json - len, "\"svc\"]}]}}}");
    ck_assert(!asking_parse(&asking, json));
    ck_assert_int_eq(asking.err.code, ERROR_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(asking.err.text, "group_by"));
}
END_TEST

START_TEST(functions)
{
    static const struct {
        const char *asked;
        enum plan_function function;
    } table[] = {
        {"MEAN", PLAN_MEAN},   {"MAX", PLAN_MAX}, {"MIN", PLAN_MIN},
        {"COUNT", PLAN_COUNT}, {"SUM", PLAN_SUM},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char json[512];
        snprintf(json, sizeof json,
                 ASK("\"g1\"", ",\"agg\":{\"function\":\"AGGREGATION_FUNCTION_%s\","
                               "\"fieldName\":\"w\"}"),
                 table[i].asked);
        const struct plan *made = plan(json);
        ck_assert_int_eq(made->agg.function, table[i].function);
        ck_assert_int_eq(made->agg.type, PLAN_INT);
        ck_assert(is(made->agg.field, "w") && made->agg.mean_floor);
        ck_assert_int_eq(made->mode, PLAN_FOLD);
    }
}
END_TEST

/* A float in one group makes floats of all. */
START_TEST(types)
{
    ck_assert_int_eq(plan(ASK("\"mixed\"", "," AGG("SUM", "v")))->agg.type, PLAN_FLOAT);
    ck_assert_int_eq(plan(ASK("\"g1\",\"mixed\"", "," AGG("SUM", "v")))->agg.type, PLAN_FLOAT);
    ck_assert_int_eq(plan(ASK("\"mixed\",\"g1\"", "," AGG("SUM", "v")))->agg.type, PLAN_FLOAT);
    ck_assert_int_eq(plan(ASK("\"g1\",\"g2\"", "," AGG("SUM", "v")))->agg.type, PLAN_INT);
}
END_TEST

START_TEST(modes)
{
    plan(ASK("\"g1\"", "," AGG("MEAN", "v")));
    ck_assert(request_aggregates(&asking.request));
    request_aggregate_by(&asking.request, PLAN_PARTIALS, false);
    ck_assert_int_eq(asking.request.plan.mode, PLAN_PARTIALS);
    ck_assert(!asking.request.plan.agg.mean_floor);
    plan(ASK("\"g1\"", "," GROUP_BY("default", "\"svc\"") "," TOP("3", "v")));
    ck_assert(!request_aggregates(&asking.request));
}
END_TEST

START_TEST(tops)
{
    static const struct {
        const char *more;
        int64_t number;
        bool ascending;
        bool hidden;
    } table[] = {
        {",\"top\":{\"fieldName\":\"v\"}", 0, false, false},
        {",\"top\":{\"number\":-1,\"fieldName\":\"v\"}", 0, false, false},
        {",\"top\":{\"number\":2147483647,\"fieldName\":\"v\"}", INT32_MAX, false, true},
        {",\"top\":{\"number\":3,\"fieldName\":\"v\",\"fieldValueSort\":1}", 3, false, true},
        {",\"top\":{\"number\":3,\"fieldName\":\"v\",\"fieldValueSort\":2}", 3, true, true},
        {",\"top\":{\"number\":3,\"fieldName\":\"v\",\"fieldValueSort\":7}," FIELDS("\"w\",\"v\""),
         3, false, false},
        {",\"top\":{\"number\":3,\"fieldName\":\"v\"}," AGG("SUM", "v"), 3, false, false},
        /* the answer will lack it, if there is one */
        {",\"top\":{\"number\":3,\"fieldName\":\"none\"}," AGG("SUM", "v"), 3, false, false},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char json[512];
        snprintf(json, sizeof json, "{\"groups\":[\"g1\"],\"name\":\"m\"," RANGE "%s}",
                 table[i].more);
        const struct plan_top *top = &plan(json)->top;
        ck_assert_int_eq(top->number, table[i].number);
        ck_assert_int_eq(top->ascending, table[i].ascending);
        ck_assert_int_eq(top->hidden, table[i].hidden);
    }
    ck_assert(is(asking.request.plan.top.field, "none"));
}
END_TEST

#define BY_RANK ",\"orderBy\":{\"sort\":1,\"indexRuleName\":\"by-rank\"}"

/* Groups are ranked by the order asked for; its tag is not shown unless it is a key. */
START_TEST(orders)
{
    const struct plan *made = plan(ASK("\"g1\"", "," AGG("SUM", "v") BY_RANK));
    ck_assert_int_eq(made->order, PLAN_BY_TAG);
    ck_assert(made->descending && made->order_hidden && is(made->order_tag.name, "rank"));
    made = plan(ASK("\"g1\"", "," AGG("SUM", "v") "," TAGS("other", "\"rank\"") BY_RANK));
    ck_assert(!made->order_hidden);
    made = plan(ASK("\"g1\"", "," AGG("SUM", "v") "," GROUP_BY("other", "\"rank\"") BY_RANK));
    ck_assert(!made->order_hidden);
    /* rows hide it, as upstream does */
    made = plan(ASK("\"g1\"", "," GROUP_BY("other", "\"rank\"") BY_RANK));
    ck_assert(made->order_hidden);
    made = plan(ASK("\"g1\"", "," AGG("SUM", "v") ",\"orderBy\":{\"sort\":1}"));
    ck_assert(made->order == PLAN_BY_TIME && made->descending);
    /* a rule that nodes take, and that names no single tag of the measure: time decides */
    made = plan(ASK(
        "\"g1\"", "," AGG("SUM", "v") ",\"orderBy\":{\"sort\":1,\"indexRuleName\":\"two-tags\"}"));
    ck_assert(made->order == PLAN_BY_TIME && made->descending && !made->order_hidden);
    /* the second group's rule of that name has one tag */
    made = plan(
        ASK("\"g1\",\"g2\"", "," AGG("SUM", "v") ",\"orderBy\":{\"indexRuleName\":\"two-tags\"}"));
    ck_assert(made->order == PLAN_BY_TAG && is(made->order_tag.name, "zone"));
}
END_TEST

/* "family.name" of each column, "(...)" when hidden, tags and fields parted by a bar. */
static void assert_layout(const char *more, const char *expected)
{
    char json[768];
    snprintf(json, sizeof json, "{\"groups\":[\"g1\",\"g2\"],\"name\":\"m\"," RANGE ",%s}", more);
    const struct layout *layout = plan(json)->layout;
    char text[512] = "";
    for (size_t i = 0; i < layout->tag_count + layout->field_count; i++) {
        const struct layout_column *column = &layout->columns[i];
        size_t len = strlen(text);
        snprintf(text + len, sizeof text - len, "%s%s%.*s%s%.*s%s ",
                 i == layout->tag_count ? "| " : "", column->hidden ? "(" : "",
                 SLICE_ARG(column->family), i < layout->tag_count ? "." : "",
                 SLICE_ARG(column->name), column->hidden ? ")" : "");
    }
    ck_assert_str_eq(text, expected);
}

START_TEST(layouts)
{
    static const struct {
        const char *more;
        const char *layout;
    } table[] = {
        /* aggregates: the client's tags that some group has, the keys, one field */
        {AGG("SUM", "v"), "| v "},
        {AGG("SUM", "v") "," GROUP_BY("default", "\"svc\""), "default.svc | v "},
        {AGG("SUM", "v") "," TAGS("default", "\"zone\",\"nope\",\"env\"") "," FIELDS(
             "\"w\",\"v\"") "," GROUP_BY("default", "\"svc\",\"svc\""),
         "default.zone default.env default.svc | v "},
        {AGG("SUM", "v") "," TAGS("default", "\"svc\",\"svc\"") "," GROUP_BY("default", "\"svc\""),
         "default.svc default.svc | v "},
        {AGG("SUM", "v") "," TOP("1", "w"), "| v "},
        /* rows: what they are grouped by is shown, what they are ranked by is not */
        {TAGS("default", "\"zone\"") "," FIELDS("\"w\"") "," GROUP_BY("default",
                                                                      "\"svc\"") "," TOP("1", "v"),
         "default.zone default.svc | w (v) "},
        {TOP("1", "w") "," TAGS("default", "\"svc\""), "default.svc | v (w) "},
        {TOP("1", "w") "," TAGS("default", "\"svc\"") "," FIELDS("\"w\""), "default.svc | w "},
        {TOP("0", "w") "," TAGS("default", "\"svc\"") "," FIELDS("\"v\""), "default.svc | v "},
        {TAGS("default", "\"env\"") "," FIELDS("\"v\"") BY_RANK, "default.env (other.rank) | v "},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_layout(table[i].more, table[i].layout);
    }
}
END_TEST

/* The tag of the order is not a group's to lack. */
START_TEST(layouts_by_rank)
{
    plan(ASK("\"g1\"", "," AGG("SUM", "v") BY_RANK));
    ck_assert_ptr_null(asking.request.plan.layout);
    ck_assert(!asking_plan(&asking, ASK("\"g1\",\"g2\"", "," AGG("SUM", "v") BY_RANK)));
    plan(ASK("\"g1\",\"g2\"",
             "," AGG("SUM", "v") "," GROUP_BY(
                 "default", "\"svc\"") ",\"orderBy\":{\"indexRuleName\":\"two-tags\"}"));
    ck_assert(is(asking.request.plan.order_tag.name, "zone"));
    const struct layout *layout = asking.request.plan.layout;
    ck_assert_uint_eq(layout->tag_count, 2);
    ck_assert(is(layout->columns[1].name, "zone") && layout->columns[1].hidden);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("request_aggregate");
    TCase *tcase = tcase_create("aggregate");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, keys);
    tcase_add_test(tcase, too_many_keys);
    tcase_add_test(tcase, functions);
    tcase_add_test(tcase, types);
    tcase_add_test(tcase, modes);
    tcase_add_test(tcase, tops);
    tcase_add_test(tcase, orders);
    tcase_add_test(tcase, layouts);
    tcase_add_test(tcase, layouts_by_rank);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
