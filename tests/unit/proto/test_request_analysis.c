// SPDX-License-Identifier: Apache-2.0
/* What a node would say against group_by and agg is said without one. */
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

#define EXECUTE(text)                                                                              \
    "code: STATUS_INTERNAL_ERROR, msg: fail to execute the query plan for measure m: code: "       \
    "STATUS_INTERNAL_ERROR, msg: " text ": invalid query message"
#define DISPATCH(text)     EXECUTE("fail to dispatch the query request for measure m: " text)
#define ANALYZE_NODE(text) DISPATCH("vec dispatch: analyze: plan.Analyze: " text)
#define BUILD(text)                                                                                \
    DISPATCH(                                                                                      \
        "vec dispatch: execute: plan.Execute: plan.GroupByAgg.Build: vectorized.measure: " text)

struct example {
    const char *json;
    const char *text;
};

static void check_all(const struct example *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ck_assert_msg(!asking_plan(&asking, table[i].json), "row %zu", i);
        ck_assert_int_eq(asking.err.code, ERROR_UNKNOWN);
        ck_assert_str_eq(asking.err.text, table[i].text);
    }
}

START_TEST(group_by)
{
    static const struct example table[] = {
        {ASK("\"g1\"", ",\"groupBy\":{}"),
         ANALYZE_NODE("GroupBy.tag_projection must list at least one tag family")},
        {ASK("\"g1\"", ",\"groupBy\":{\"tagProjection\":{}}," AGG("SUM", "v")),
         ANALYZE_NODE("GroupBy.tag_projection must list at least one tag family")},
        {ASK("\"g1\"", ",\"groupBy\":{\"tagProjection\":{\"tagFamilies\":[{\"name\":\"a\"},{}]}}"),
         ANALYZE_NODE("GroupBy.tag_projection v1 supports a single tag family, got 2")},
        {ASK("\"g1\"", "," GROUP_BY("nope", "")),
         ANALYZE_NODE("GroupBy.tag_projection family \"nope\" has no tags")},
        {ASK("\"g1\"", "," GROUP_BY("nope", "\"svc\"")),
         ANALYZE_NODE("GroupBy tag family \"nope\" not present in measure schema")},
        /* known, but of the other family */
        {ASK("\"g1\"", "," GROUP_BY("other", "\"env\",\"svc\"")),
         ANALYZE_NODE("GroupBy tag other.svc not present in measure schema")},
        {ASK("\"mixed\"", "," GROUP_BY("default", "\"at\"")),
         ANALYZE_NODE("vectorized.measure: tag default.at: unsupported tag type "
                      "TAG_TYPE_TIMESTAMP")},
        {ASK("\"mixed\"", "," GROUP_BY("default", "\"svc\"") "," TAGS("default", "\"at\"")),
         ANALYZE_NODE("vectorized.measure: tag default.at: unsupported tag type "
                      "TAG_TYPE_TIMESTAMP")},
        /* each group has to know the key */
        {ASK("\"g1\",\"g2\"", "," GROUP_BY("default", "\"env\"")),
         ANALYZE_NODE("GroupBy tag default.env not present in measure schema")},
        {ASK("\"g2\",\"g1\"", "," GROUP_BY("default", "\"zone\"")),
         ANALYZE_NODE("GroupBy tag default.zone not present in measure schema")},
    };
    check_all(table, sizeof table / sizeof *table);
}
END_TEST

START_TEST(agg)
{
    static const struct example table[] = {
        {ASK("\"g1\"", ",\"agg\":{\"function\":5}"),
         ANALYZE_NODE("Agg field \"\" not present in measure schema")},
        {ASK("\"g1\"", "," AGG("SUM", "nope")),
         ANALYZE_NODE("Agg field \"nope\" not present in measure schema")},
        {ASK("\"g1\",\"g2\"", "," AGG("SUM", "w")),
         ANALYZE_NODE("Agg field \"w\" not present in measure schema")},
        {ASK("\"g1\"", ",\"agg\":{\"fieldName\":\"v\"}"), BUILD("Agg.Function is UNSPECIFIED")},
        {ASK("\"g1\"", ",\"agg\":{\"fieldName\":\"v\",\"function\":9}"),
         BUILD("unknown AggregationFunction 9")},
        {ASK("\"g1\"", ",\"agg\":{\"fieldName\":\"v\",\"function\":-1}"),
         BUILD("unknown AggregationFunction -1")},
        {ASK("\"mixed\"", "," AGG("COUNT", "text")),
         EXECUTE("panic: agg needs a field of FIELD_TYPE_INT or FIELD_TYPE_FLOAT, text is of "
                 "FIELD_TYPE_STRING")},
    };
    check_all(table, sizeof table / sizeof *table);
}
END_TEST

/* Projected names, order, group_by, agg, tags, function, type: the first one is told. */
START_TEST(in_the_order_of_a_node)
{
    static const struct example table[] = {
        {ASK("\"mixed\"", ",\"agg\":{},\"groupBy\":{},\"orderBy\":{\"indexRuleName\":\"x\"}," TAGS(
                              "default", "\"nope\"") "," FIELDS("\"none\"")),
         DISPATCH("nope: tag is not defined")},
        {ASK("\"mixed\"",
             ",\"agg\":{},\"groupBy\":{},\"orderBy\":{\"indexRuleName\":\"x\"}," FIELDS(
                 "\"none\"")),
         DISPATCH("field none not found in schema")},
        {ASK("\"mixed\"", ",\"agg\":{},\"groupBy\":{},\"orderBy\":{\"indexRuleName\":\"x\"}"),
         DISPATCH("vec dispatch: parse order_by: x: index is not define for the tag")},
        {ASK("\"g1\"", ",\"agg\":{},\"groupBy\":{},\"orderBy\":{\"indexRuleName\":\"unsorted\"}"),
         DISPATCH("vec dispatch: parse order_by: unsorted: index does not support sorting")},
        {ASK("\"mixed\"", ",\"agg\":{},\"groupBy\":{}," TAGS("default", "\"at\"")),
         ANALYZE_NODE("GroupBy.tag_projection must list at least one tag family")},
        {ASK("\"mixed\"", ",\"agg\":{}," TAGS("default", "\"at\"")),
         ANALYZE_NODE("Agg field \"\" not present in measure schema")},
        {ASK("\"mixed\"", ",\"agg\":{\"fieldName\":\"text\"}," TAGS("default", "\"at\"")),
         ANALYZE_NODE("vectorized.measure: tag default.at: unsupported tag type "
                      "TAG_TYPE_TIMESTAMP")},
        {ASK("\"mixed\"", ",\"agg\":{\"fieldName\":\"text\"}"),
         BUILD("Agg.Function is UNSPECIFIED")},
        /* of several groups the first one's fault; each is asked only for the names it knows */
        {ASK("\"g1\",\"mixed\"", ",\"agg\":{\"fieldName\":\"text\"}," TAGS("default", "\"at\"")),
         ANALYZE_NODE("Agg field \"text\" not present in measure schema")},
        {ASK("\"g2\",\"g1\"", "," AGG("SUM", "v") ",\"orderBy\":{\"indexRuleName\":\"by-rank\"}"),
         DISPATCH("vec dispatch: parse order_by: by-rank: index is not define for the tag")},
    };
    check_all(table, sizeof table / sizeof *table);
}
END_TEST

START_TEST(accepted)
{
    static const char *const table[] = {
        ASK("\"g1\"", "," GROUP_BY("other", "\"env\",\"rank\"")),
        ASK("\"g1\"", "," AGG("MEAN", "v") "," GROUP_BY("default", "\"svc\"")),
        /* a tag under the wrong family reads as null */
        ASK("\"mixed\"", "," AGG("MAX", "v") "," TAGS("other", "\"at\"")),
        ASK("\"mixed\"", "," AGG("MIN", "v") "," GROUP_BY("default", "\"names\"")),
        ASK("\"g1\",\"g2\"", "," AGG("COUNT", "v") "," GROUP_BY("default", "\"svc\"") "," TAGS(
                                 "default", "\"nope\"") "," FIELDS("\"none\"")),
        /* what no group_by or agg stands beside is left to the nodes */
        ASK("\"g1\"", "," TAGS("default", "\"nope\"") "," FIELDS("\"none\"")),
        ASK("\"mixed\"", "," TAGS("default", "\"at\"") "," TOP("2", "text")),
        /* only rows can lack the field, and there may be none */
        ASK("\"g1\"", "," AGG("SUM", "v") "," TOP("2", "w")),
        /* nodes take rules that no rows could be merged by */
        ASK("\"g1\"", "," AGG("SUM", "v") ",\"orderBy\":{\"indexRuleName\":\"two-tags\"}"),
        ASK("\"g1\"", "," AGG("SUM", "v") ",\"orderBy\":{\"indexRuleName\":\"gone\"}"),
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_msg(asking_plan(&asking, table[i]), "row %zu: %s", i, asking.err.text);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("request_analysis");
    TCase *tcase = tcase_create("analysis");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, group_by);
    tcase_add_test(tcase, agg);
    tcase_add_test(tcase, in_the_order_of_a_node);
    tcase_add_test(tcase, accepted);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
