// SPDX-License-Identifier: Apache-2.0
/* Request and schemas → plan: order, stages, limits, columns; refusals in their order. */
#include "proto/request_layout.h"
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
    ck_assert_msg(asking_plan(&asking, json), "%s", asking.err.text);
    return &asking.request.plan;
}

START_TEST(refused)
{
    static const struct {
        const char *json;
        const char *text;
    } table[] = {
        {ASK("\"g1\",\"rest\"", ""),
         "code: STATUS_INTERNAL_ERROR, msg: fail to get execution context for measure m: measure "
         "doesn't exist: invalid query message"},
        {ASK("\"nope\"", ""),
         "code: STATUS_INTERNAL_ERROR, msg: fail to get execution context for measure m: measure "
         "doesn't exist: invalid query message"},
        {ASK("\"g1\"", ",\"orderBy\":{\"indexRuleName\":\"nope\"}"),
         ANALYZE("index rule nope not found")},
        {ASK("\"g1\"", ",\"orderBy\":{\"indexRuleName\":\"unbound\"}"),
         ANALYZE("index rule unbound not found")},
        {ASK("\"g1\"", ",\"orderBy\":{\"indexRuleName\":\"unsorted\"}"),
         ANALYZE("index rule unsorted does not support sorting")},
        {ASK("\"g1\"", ",\"orderBy\":{\"indexRuleName\":\"two-tags\"}"),
         ANALYZE("index rule two-tags should have one tag")},
        {ASK("\"g1\"", ",\"orderBy\":{\"indexRuleName\":\"gone\"}"), ANALYZE("tag nope not found")},
        /* none has it: the reason of the first group */
        {ASK("\"g1\",\"staged\"", ",\"orderBy\":{\"indexRuleName\":\"unsorted\"}"),
         ANALYZE("index rule unsorted does not support sorting")},
        {ASK("\"staged\",\"g1\"", ",\"orderBy\":{\"indexRuleName\":\"unsorted\"}"),
         ANALYZE("index rule unsorted not found")},
        {ASK("\"g1\"", ",\"top\":{\"number\":1,\"fieldName\":\"nope\"}"),
         ANALYZE("vec distributed analyze: top field nope not found in schema")},
        /* order, top, stages: the first one is told */
        {ASK("\"bare\"", ",\"orderBy\":{\"indexRuleName\":\"x\"},\"top\":{\"fieldName\":\"y\"}"),
         ANALYZE("index rule x not found")},
        {ASK("\"bare\"", ",\"top\":{\"fieldName\":\"y\"}"),
         ANALYZE("vec distributed analyze: top field y not found in schema")},
        /* what aggregates leaves the order to its nodes */
        {ASK("\"bare\"", ",\"agg\":{},\"orderBy\":{\"indexRuleName\":\"x\"}"),
         "code: STATUS_INTERNAL_ERROR, msg: no stage found in request or default stages in "
         "resource opts: invalid query message"},
        {ASK("\"bare\"", ""), "code: STATUS_INTERNAL_ERROR, msg: no stage found in request or "
                              "default stages in resource opts: invalid query message"},
        {ASK("\"g1\"", ",\"stages\":[\"warm\"]"),
         "code: STATUS_INTERNAL_ERROR, msg: no stage found: invalid query message"},
        {ASK("\"g1\",\"g2\"", "," TAGS("default", "\"svc\",\"nope\"")),
         "code: STATUS_INTERNAL_ERROR, msg: fail to execute the query plan for measure m: vec "
         "distributed plan: build multi-group schema: nope: tag is not defined: invalid query "
         "message"},
        /* known, but of another family */
        {ASK("\"g1\",\"g2\"", "," TAGS("other", "\"svc\"")),
         "code: STATUS_INTERNAL_ERROR, msg: fail to execute the query plan for measure m: vec "
         "distributed plan: build multi-group schema: svc: tag is not defined: invalid query "
         "message"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_msg(!asking_plan(&asking, table[i].json), "row %zu", i);
        ck_assert_int_eq(asking.err.code, ERROR_UNKNOWN);
        ck_assert_str_eq(asking.err.text, table[i].text);
    }
}
END_TEST

static bool is(struct slice slice, const char *text)
{
    return slice_equal(slice, slice_str(text));
}

START_TEST(limits)
{
    static const struct {
        const char *more;
        uint64_t offset;
        uint64_t limit;
    } table[] = {
        {"", 0, 100},
        {",\"limit\":7", 0, 7},
        {",\"offset\":3", 3, 100},
        {",\"offset\":4294967295,\"limit\":4294967295", UINT32_MAX, UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char json[512];
        snprintf(json, sizeof json, "{\"groups\":[\"g1\"],\"name\":\"m\"," RANGE "%s}",
                 table[i].more);
        const struct plan *made = plan(json);
        ck_assert_uint_eq(made->offset, table[i].offset);
        ck_assert_uint_eq(made->limit, table[i].limit);
    }
}
END_TEST

START_TEST(orders)
{
    const struct plan *made = plan(ASK("\"g1\"", ""));
    ck_assert_int_eq(made->order, PLAN_BY_TIME);
    ck_assert(!made->descending && !made->order_hidden);
    ck_assert_ptr_null(made->layout);
    ck_assert(is(made->measure, "m") && is(made->groups[0], "g1"));

    made = plan(ASK("\"g1\"", ",\"orderBy\":{\"sort\":\"SORT_DESC\"}"));
    ck_assert_int_eq(made->order, PLAN_BY_TIME);
    ck_assert(made->descending);

    made = plan(ASK("\"g1\"", ",\"orderBy\":{\"sort\":7}"));
    ck_assert(!made->descending);

    made = plan(ASK("\"g1\"", ",\"orderBy\":{\"indexRuleName\":\"by-rank\"}"));
    ck_assert_int_eq(made->order, PLAN_BY_TAG);
    ck_assert(made->order_hidden && is(made->order_tag.family, "other"));
    ck_assert(is(made->order_tag.name, "rank"));

    /* The first family that has the tag; projected under the other one is not projected. */
    made = plan(
        ASK("\"g1\"", ",\"orderBy\":{\"indexRuleName\":\"by-env\"}," TAGS("other", "\"env\"")));
    ck_assert(made->order_hidden && is(made->order_tag.family, "default"));
    made = plan(
        ASK("\"g1\"", ",\"orderBy\":{\"indexRuleName\":\"by-env\"}," TAGS("default", "\"env\"")));
    ck_assert(!made->order_hidden);

    /* The first group that has such a rule. */
    made = plan(ASK("\"g1\",\"g2\"", ",\"orderBy\":{\"indexRuleName\":\"two-tags\"}"));
    ck_assert(is(made->order_tag.name, "zone"));
}
END_TEST

START_TEST(index_mode)
{
    ck_assert(plan(ASK("\"index\"", ""))->index_mode);
    ck_assert(!plan(ASK("\"index\",\"g1\"", ""))->index_mode);
}
END_TEST

static void assert_selectors(size_t group, const char *expected)
{
    char text[256] = "";
    const struct request_group *asked = &asking.request.groups[group];
    for (size_t i = 0; i < asked->selector_count; i++) {
        size_t len = strlen(text);
        snprintf(text + len, sizeof text - len, "%.*s;", SLICE_ARG(asked->selectors[i]));
    }
    ck_assert_str_eq(text, expected);
}

START_TEST(stages)
{
    static const struct {
        const char *more;
        const char *selectors;
    } table[] = {
        {"", "type=warm;"}, /* the default; a blank selector is passed over */
        {",\"stages\":[\"HOT\"]", "type=hot;type=fast;"},
        {",\"stages\":[\"warm\",\"hot\",\"nope\"]", "type=warm;type=hot;type=fast;"},
        {",\"stages\":[\"warm\",\"warm\"]", "type=warm;type=warm;"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char json[512];
        snprintf(json, sizeof json, "{\"groups\":[\"staged\"],\"name\":\"m\"," RANGE "%s}",
                 table[i].more);
        plan(json);
        assert_selectors(0, table[i].selectors);
    }
    /* Each group has its own nodes. */
    plan(ASK("\"g1\",\"staged\"", ""));
    assert_selectors(0, "");
    assert_selectors(1, "type=warm;");
    plan(ASK("\"staged\",\"bare\"", ",\"stages\":[\"cold\",\"warm\"]"));
    assert_selectors(0, "type=warm;");
    assert_selectors(1, "type=cold;");
    /* A stage called hot is one even where the group has none of that name. */
    plan(ASK("\"g1\"", ",\"stages\":[\"hot\"]"));
    assert_selectors(0, "type=fast;");
}
END_TEST

/* "family.name" of each column, "(...)" when hidden, tags and fields parted by a bar. */
static void assert_columns(const struct layout *layout, const char *expected)
{
    char text[512] = "";
    ck_assert_ptr_nonnull(layout);
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

static void assert_layout(const char *expected)
{
    assert_columns(asking.request.plan.layout, expected);
}

START_TEST(layouts)
{
    static const struct {
        const char *more;
        const char *layout;
    } table[] = {
        {"", "default.svc default.env other.rank other.env default.zone | v w "},
        {"," TAGS("default", "\"zone\",\"svc\",\"zone\"") "," FIELDS("\"w\",\"x\",\"w\""),
         "default.zone default.svc default.zone | w x w "},
        {"," TAGS("default", "\"svc\""), "default.svc | v w "},
        {"," FIELDS("\"v\""), "default.svc default.env other.rank other.env default.zone | v "},
        {"," TAGS("default", "") "," FIELDS("\"v\""), "| v "},
        {"," TAGS("default",
                  "\"svc\"") "," FIELDS("\"v\"") ",\"orderBy\":{\"indexRuleName\":\"by-rank\"}",
         "default.svc (other.rank) | v "},
        {"," TAGS("other",
                  "\"rank\"") "," FIELDS("\"v\"") ",\"orderBy\":{\"indexRuleName\":\"by-rank\"}",
         "other.rank | v "},
        /* nothing projected: the tag by which rows are sorted is not shown */
        {"," FIELDS("\"v\"") ",\"orderBy\":{\"indexRuleName\":\"by-rank\"}",
         "default.svc default.env (other.rank) other.env default.zone | v "},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char json[512];
        snprintf(json, sizeof json, "{\"groups\":[\"g1\",\"g2\"],\"name\":\"m\"," RANGE "%s}",
                 table[i].more);
        plan(json);
        assert_layout(table[i].layout);
    }
    /* asked once, and its columns are those of its schema all the same */
    ck_assert_uint_eq(plan(ASK("\"g2\",\"g2\"", "," TAGS("default", "\"svc\"")))->group_count, 1);
    assert_layout("default.svc | v ");
    ck_assert_ptr_null(plan(ASK("\"g2\"", ""))->layout);
    plan(ASK("\"index\",\"g2\"", ""));
    assert_layout("default.svc default.zone | v ");
}
END_TEST

/* One group: what is asked for, each once, and nothing that is hidden. Several: the layout. */
START_TEST(shown)
{
    static const struct {
        const char *more;
        const char *columns;
    } table[] = {
        {"", ""},
        {"," TAGS("default", "\"zone\",\"svc\",\"zone\"") "," FIELDS("\"v\",\"v\""),
         "default.zone default.svc | v "},
        {"," FIELDS("\"v\"") "," TOP("3", "w"), "| v "},
        {"," TAGS("default",
                  "\"svc\"") "," FIELDS("\"v\"") ",\"orderBy\":{\"indexRuleName\":\"by-rank\"}",
         "default.svc | v "},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char json[512];
        snprintf(json, sizeof json, "{\"groups\":[\"g1\"],\"name\":\"m\"," RANGE "%s}",
                 table[i].more);
        ck_assert_ptr_null(plan(json)->layout);
        assert_columns(request_layout_shown(&asking.request, &asking.arena), table[i].columns);
    }
    plan(ASK("\"g1\",\"g2\"", ""));
    ck_assert_ptr_eq(request_layout_shown(&asking.request, &asking.arena),
                     asking.request.plan.layout);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("request_plan");
    TCase *tcase = tcase_create("plan");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, refused);
    tcase_add_test(tcase, limits);
    tcase_add_test(tcase, orders);
    tcase_add_test(tcase, index_mode);
    tcase_add_test(tcase, stages);
    tcase_add_test(tcase, layouts);
    tcase_add_test(tcase, shown);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
