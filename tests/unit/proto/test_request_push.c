// SPDX-License-Identifier: Apache-2.0
/* What each group's nodes are sent. */
#include "frame/wire.h"
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

static const ProtobufCMessageDescriptor *const descriptor =
    &banyandb__measure__v1__internal_query_request__descriptor;

/* Packed anew, so that messages compare as bytes. */
static struct slice repack(struct slice bytes)
{
    ProtobufCMessage *message = protobuf_c_message_unpack(descriptor, NULL, bytes.len, bytes.ptr);
    ck_assert_ptr_nonnull(message);
    size_t len = protobuf_c_message_get_packed_size(message);
    uint8_t *packed = arena_zalloc(&asking.arena, len, 1);
    protobuf_c_message_pack(message, packed);
    protobuf_c_message_free_unpacked(message, NULL);
    return slice_of(packed, len);
}

/* `json`: the QueryRequest expected inside of group's push. */
static void assert_push(size_t group, const char *json)
{
    char text[2048];
    snprintf(text, sizeof text, "{\"request\":%s%s}", json,
             asking.request.plan.mode == PLAN_PARTIALS ? ",\"aggReturnPartial\":true" : "");
    struct slice expected = sample_bytes(text, descriptor, &asking.arena);
    struct slice pushed = repack(request_push(&asking.request, group, &asking.arena));
    ck_assert_msg(slice_equal(pushed, expected), "group %zu: %s", group, json);
}

START_TEST(one_group)
{
    static const struct {
        const char *asked;
        const char *pushed;
    } table[] = {
        {ASK("\"g1\"", ""), ASK("\"g1\"", ",\"limit\":100")},
        {ASK("\"g1\",\"g1\"", ",\"limit\":5"), ASK("\"g1\"", ",\"limit\":5")},
        {ASK("\"g1\"", ",\"offset\":20"), ASK("\"g1\"", ",\"limit\":120")},
        {ASK("\"g1\"", ",\"offset\":10,\"limit\":4294967295"),
         ASK("\"g1\"", ",\"limit\":4294967295")},
        {ASK("\"g1\"", ",\"trace\":true,\"stages\":[\"hot\"],\"rewriteAggTopNResult\":true"),
         ASK("\"g1\"",
             ",\"trace\":true,\"stages\":[\"hot\"],\"rewriteAggTopNResult\":true,\"limit\":100")},
        {ASK("\"g1\"", ",\"top\":{\"fieldName\":\"v\"}," FIELDS("\"w\"")),
         ASK("\"g1\"", ",\"limit\":100," FIELDS("\"w\""))},
        /* unknown names are the node's to refuse; duplicates stay */
        {ASK("\"g1\"", "," TAGS("x", "\"a\",\"a\"") "," FIELDS("\"nope\"")),
         ASK("\"g1\"", ",\"limit\":100," TAGS("x", "\"a\",\"a\"") "," FIELDS("\"nope\""))},
        {ASK("\"g1\"",
             ",\"groupModRevisions\":{\"g1\":\"100\",\"z\":\"1\"},\"criteria\":{\"condition\":"
             "{\"name\":\"svc\",\"op\":1,\"value\":{\"str\":{\"value\":\"x\"}}}}"),
         ASK("\"g1\"", ",\"limit\":100,\"groupModRevisions\":{\"g1\":\"100\",\"z\":\"1\"},"
                       "\"criteria\":{\"condition\":{\"name\":\"svc\",\"op\":1,\"value\":"
                       "{\"str\":{\"value\":\"x\"}}}}")},
        /* in index mode nodes cut before they sort */
        {ASK("\"index\"", ",\"limit\":3"), ASK("\"index\"", ",\"limit\":4294967295")},
        {ASK("\"index\"", ",\"limit\":3,\"orderBy\":{\"indexRuleName\":\"by-svc\"}"),
         ASK("\"index\"", ",\"limit\":4294967295,\"orderBy\":{\"indexRuleName\":\"by-svc\"}," TAGS(
                              "default", "\"svc\""))},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_msg(asking_plan(&asking, table[i].asked), "row %zu: %s", i, asking.err.text);
        assert_push(0, table[i].pushed);
    }
}
END_TEST

#define ORDER(rule)      ",\"orderBy\":{\"indexRuleName\":\"" rule "\"}"
#define DESCENDING(rule) ",\"orderBy\":{\"indexRuleName\":\"" rule "\",\"sort\":\"SORT_DESC\"}"

START_TEST(hidden_tag)
{
    static const struct {
        const char *asked;
        const char *pushed;
    } table[] = {
        {ASK("\"g1\"", ORDER("by-rank")),
         ASK("\"g1\"", ",\"limit\":10000" ORDER("by-rank") "," TAGS("other", "\"rank\""))},
        /* only where rows without a value come first, and nodes have them last */
        {ASK("\"g1\"",
             ",\"limit\":9990,\"offset\":11" ORDER("by-rank") "," TAGS("other", "\"rank\"")),
         ASK("\"g1\"", ",\"limit\":10001" ORDER("by-rank") "," TAGS("other", "\"rank\""))},
        {ASK("\"g1\"", DESCENDING("by-rank") "," TAGS("other", "\"rank\"")),
         ASK("\"g1\"", ",\"limit\":100" DESCENDING("by-rank") "," TAGS("other", "\"rank\""))},
        {ASK("\"g1\"", ORDER("by-rank") "," TAGS("other", "\"env\"")),
         ASK("\"g1\"", ",\"limit\":10000" ORDER("by-rank") "," TAGS("other", "\"env\",\"rank\""))},
        {ASK("\"g1\"", ORDER("by-rank") "," TAGS("other", "\"rank\"")),
         ASK("\"g1\"", ",\"limit\":10000" ORDER("by-rank") "," TAGS("other", "\"rank\""))},
        {ASK("\"g1\"", ORDER("by-rank") "," TAGS("default", "\"svc\"")),
         ASK("\"g1\"",
             ",\"limit\":10000" ORDER("by-rank") ",\"tagProjection\":{\"tagFamilies\":[{\"name\":"
                                                 "\"default\",\"tags\":[\"svc\"]},"
                                                 "{\"name\":\"other\",\"tags\":[\"rank\"]}]}")},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_msg(asking_plan(&asking, table[i].asked), "row %zu: %s", i, asking.err.text);
        assert_push(0, table[i].pushed);
    }
}
END_TEST

/* Each group is asked for what it has; the client's own message stays as it is. */
START_TEST(several_groups)
{
    ck_assert(asking_plan(
        &asking, ASK("\"g1\",\"g2\"", "," TAGS("default", "\"svc\",\"env\",\"zone\"") "," FIELDS(
                                          "\"v\",\"w\",\"x\""))));
    for (int again = 0; again < 2; again++) {
        assert_push(0, ASK("\"g1\"", ",\"limit\":100," TAGS(
                                         "default", "\"svc\",\"env\"") "," FIELDS("\"v\",\"w\"")));
        assert_push(1, ASK("\"g2\"", ",\"limit\":100," TAGS(
                                         "default", "\"svc\",\"zone\"") "," FIELDS("\"v\"")));
    }
    /* What becomes empty is left out. */
    ck_assert(asking_plan(&asking,
                          ASK("\"g1\",\"g2\"", "," TAGS("other", "\"rank\"") "," FIELDS("\"w\""))));
    assert_push(0, ASK("\"g1\"", ",\"limit\":100," TAGS("other", "\"rank\"") "," FIELDS("\"w\"")));
    assert_push(1, ASK("\"g2\"", ",\"limit\":100," TAGS("default", "\"svc\"")));
    ck_assert(asking_plan(&asking, ASK("\"g2\",\"g1\"", "," FIELDS("\"nope\",\"w\""))));
    assert_push(0, ASK("\"g2\"", ",\"limit\":100," FIELDS("\"v\"")));
    assert_push(1, ASK("\"g1\"", ",\"limit\":100," FIELDS("\"w\"")));
    /* What no group has is the nodes' to refuse. */
    ck_assert(asking_plan(&asking, ASK("\"g1\",\"g2\"", "," FIELDS("\"nope\""))));
    assert_push(0, ASK("\"g1\"", ",\"limit\":100"));
    assert_push(1, ASK("\"g2\"", ",\"limit\":100"));
    /* A hidden tag goes where it is known. */
    ck_assert(asking_plan(&asking,
                          ASK("\"g2\",\"g1\"", ORDER("by-rank") "," TAGS("default", "\"svc\""))));
    assert_push(0,
                ASK("\"g2\"", ",\"limit\":10000" ORDER("by-rank") "," TAGS("default", "\"svc\"")));
    assert_push(1, ASK("\"g1\"", ",\"limit\":10000" ORDER(
                                     "by-rank") ",\"tagProjection\":{\"tagFamilies\":[{\"name\":"
                                                "\"default\",\"tags\":[\"svc\"]},"
                                                "{\"name\":\"other\",\"tags\":[\"rank\"]}]}"));
    /* One group in index mode, the other not. */
    ck_assert(asking_plan(&asking, ASK("\"index\",\"g1\"", ",\"limit\":5")));
    assert_push(0, ASK("\"index\"", ",\"limit\":4294967295"));
    assert_push(1, ASK("\"g1\"", ",\"limit\":5"));
}
END_TEST

#define ALL ",\"limit\":4294967295"

/* Rows are grouped and ranked here; of a top of no rows nodes are asked nothing. */
START_TEST(grouped_rows)
{
    static const struct {
        const char *asked;
        const char *pushed;
    } table[] = {
        {ASK("\"g1\"", ",\"limit\":5," GROUP_BY("default", "\"svc\"")),
         ASK("\"g1\"", ALL "," TAGS("default", "\"svc\""))},
        {ASK("\"g1\"",
             ",\"offset\":3," GROUP_BY("default", "\"svc\"") "," TAGS("default", "\"env\"")),
         ASK("\"g1\"", ALL "," TAGS("default", "\"env\",\"svc\""))},
        {ASK("\"g1\"", "," GROUP_BY("default", "\"svc\"") "," TAGS("default", "\"svc\"") "," TOP(
                           "3", "v") "," FIELDS("\"w\"")),
         ASK("\"g1\"", ALL "," TAGS("default", "\"svc\"") "," FIELDS("\"w\",\"v\""))},
        {ASK("\"g1\"", ",\"limit\":1," TOP("3", "v") "," FIELDS("\"v\"")),
         ASK("\"g1\"", ALL "," FIELDS("\"v\""))},
        {ASK("\"g1\"", "," TOP("3", "v")), ASK("\"g1\"", ALL "," FIELDS("\"v\""))},
        {ASK("\"g1\"", "," TOP("0", "v")), ASK("\"g1\"", ",\"limit\":100")},
        {ASK("\"g1\"", "," GROUP_BY("other", "\"env\"") ORDER("by-rank")),
         ASK("\"g1\"", ALL ORDER("by-rank") "," TAGS("other", "\"rank\",\"env\""))},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_msg(asking_plan(&asking, table[i].asked), "row %zu: %s", i, asking.err.text);
        assert_push(0, table[i].pushed);
    }
    ck_assert(asking_plan(
        &asking, ASK("\"g1\",\"g2\"", "," GROUP_BY("default", "\"svc\"") "," TOP("3", "w") "," TAGS(
                                          "default", "\"env\"") "," FIELDS("\"v\""))));
    assert_push(
        0, ASK("\"g1\"", ALL "," TAGS("default", "\"env\",\"svc\"") "," FIELDS("\"v\",\"w\"")));
    assert_push(1, ASK("\"g2\"", ALL "," TAGS("default", "\"svc\"") "," FIELDS("\"v\"")));
}
END_TEST

/* Nodes group and aggregate, without a cut; top is applied to the totals. */
START_TEST(partials)
{
    ck_assert(asking_plan(
        &asking,
        ASK("\"g1\"",
            ",\"offset\":2,\"limit\":5," AGG("MEAN", "v") "," GROUP_BY("other", "\"env\"") "," TOP(
                "3", "v") "," TAGS("default", "\"svc\"") "," FIELDS("\"w\"") ORDER("by-rank"))));
    request_aggregate_by(&asking.request, PLAN_PARTIALS, true);
    assert_push(0, ASK("\"g1\"", ALL "," AGG("MEAN", "v") "," GROUP_BY("other", "\"env\"") "," TAGS(
                                     "default", "\"svc\"") "," FIELDS("\"w\"") ORDER("by-rank")));
    ck_assert(asking_plan(
        &asking, ASK("\"g1\",\"g2\"", "," AGG("SUM", "v") "," TAGS("default", "\"zone\""))));
    request_aggregate_by(&asking.request, PLAN_PARTIALS, true);
    assert_push(0, ASK("\"g1\"", ALL "," AGG("SUM", "v")));
    assert_push(1, ASK("\"g2\"", ALL "," AGG("SUM", "v") "," TAGS("default", "\"zone\"")));
}
END_TEST

/* Rows with what they are grouped, ordered and aggregated by, all of them. */
START_TEST(folded_rows)
{
    static const struct {
        const char *asked;
        const char *pushed;
    } table[] = {
        {ASK("\"g1\"",
             ",\"offset\":2,\"limit\":5," AGG("MEAN", "v") "," GROUP_BY("other", "\"env\"") "," TOP(
                 "3", "v") "," TAGS("default", "\"svc\"") "," FIELDS("\"w\"") ORDER("by-rank")),
         ASK("\"g1\"", ALL "," FIELDS("\"v\"")
                           ORDER("by-rank") ",\"tagProjection\":{\"tagFamilies\":["
                                            "{\"name\":\"default\",\"tags\":[\"svc\"]},"
                                            "{\"name\":\"other\",\"tags\":[\"rank\",\"env\"]}]}")},
        {ASK("\"g1\"", "," AGG("SUM", "w")), ASK("\"g1\"", ALL "," FIELDS("\"w\""))},
        {ASK("\"g1\"", "," AGG("SUM", "w") "," GROUP_BY("other", "\"rank\"") ORDER("by-rank")),
         ASK("\"g1\"", ALL "," FIELDS("\"w\"") ORDER("by-rank") "," TAGS("other", "\"rank\""))},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_msg(asking_plan(&asking, table[i].asked), "row %zu: %s", i, asking.err.text);
        assert_push(0, table[i].pushed);
    }
    ck_assert(
        asking_plan(&asking, ASK("\"g1\",\"g2\"",
                                 "," AGG("SUM", "v") "," TAGS("default", "\"env\"") "," GROUP_BY(
                                     "default", "\"svc\"") ORDER("two-tags"))));
    assert_push(0, ASK("\"g1\"", ALL "," FIELDS("\"v\"")
                                     ORDER("two-tags") "," TAGS("default", "\"env\",\"svc\"")));
    assert_push(1, ASK("\"g2\"", ALL "," FIELDS("\"v\"")
                                     ORDER("two-tags") "," TAGS("default", "\"zone\",\"svc\"")));
}
END_TEST

START_TEST(clamped_range)
{
    ck_assert(asking_parse(
        &asking,
        "{\"groups\":[\"g1\"],\"name\":\"m\",\"timeRange\":{\"begin\":\"2026-11-30T09:00:00Z\","
        "\"end\":\"2026-11-30T11:15:00Z\"},\"groupModRevisions\":{\"g1\":0}}"));
    ck_assert_int_eq(request_gate(&asking.request, asking.world, false), REQUEST_GO_ON);
    ck_assert(request_plan(&asking.request, asking.world, "", &asking.arena, &asking.err));
    assert_push(0, "{\"groups\":[\"g1\"],\"name\":\"m\",\"timeRange\":{\"begin\":"
                   "\"2026-11-30T10:00:00.000000005Z\",\"end\":\"2026-11-30T11:15:00Z\"},"
                   "\"limit\":100,\"groupModRevisions\":{\"g1\":0}}");
}
END_TEST

/* A value with a NUL and a field that this version does not know reach the node as they came. */
START_TEST(carried_bytes)
{
    struct slice asked = sample_request(ASK("\"g1\"", ""), &asking.arena);
    static const uint8_t more[] = "\x22\x0c\x12\x0a\x1a\x08\x12\x06\x0a\x04"
                                  "a\0bc"           /* criteria.condition.value.str.value */
                                  "\xfa\x06\x03xyz" /* field 111 */
                                  "\xf8\x3f\x05";   /* field 1023 */
    uint8_t *bytes = arena_alloc(&asking.arena, asked.len + sizeof more, 1);
    uint8_t *end = pbw_copy(pbw_copy(bytes, asked), slice_of(more, sizeof more - 1));
    struct slice both = slice_of(bytes, (size_t)(end - bytes));
    ck_assert_msg(request_parse(both, &asking.arena, &asking.request, &asking.err), "%s",
                  asking.err.text);
    memset(bytes, 0, both.len); /* nothing of them is used later */
    ck_assert(request_plan(&asking.request, asking.world, "", &asking.arena, &asking.err));
    struct slice pushed = request_push(&asking.request, 0, &asking.arena);
    ck_assert_ptr_nonnull(memmem(pushed.ptr, pushed.len, more, sizeof more - 1));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("request_push");
    TCase *tcase = tcase_create("push");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, one_group);
    tcase_add_test(tcase, hidden_tag);
    tcase_add_test(tcase, several_groups);
    tcase_add_test(tcase, grouped_rows);
    tcase_add_test(tcase, partials);
    tcase_add_test(tcase, folded_rows);
    tcase_add_test(tcase, clamped_range);
    tcase_add_test(tcase, carried_bytes);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
