// SPDX-License-Identifier: Apache-2.0
/* Revisions and the clamp. The sample world's measures have revision 100. */
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

enum { NONE = -1, SUCCEED = 1, NOT_FOUND = 3, EXPIRED = 4, NOT_APPLIED = 10 };

START_TEST(statuses)
{
    static const struct {
        const char *groups;
        const char *revisions;
        bool may_wait;
        enum request_step step;
        int statuses[2]; /* of the groups, NONE = not gated */
    } table[] = {
        {"\"g1\"", "\"g1\":100", false, REQUEST_GO_ON, {SUCCEED}},
        {"\"g1\"", "\"g1\":99", false, REQUEST_ANSWERED, {EXPIRED}},
        {"\"g1\"", "\"g1\":-5", true, REQUEST_ANSWERED, {EXPIRED}},
        {"\"g1\"", "\"g1\":101", false, REQUEST_ANSWERED, {NOT_APPLIED}},
        {"\"g1\"", "\"g1\":101", true, REQUEST_WAIT, {NOT_APPLIED}},
        {"\"rest\"", "\"rest\":1", true, REQUEST_ANSWERED, {NOT_FOUND}},
        {"\"nope\"", "\"nope\":1", false, REQUEST_ANSWERED, {NOT_FOUND}},
        {"\"g1\"", "\"g1\":0", false, REQUEST_GO_ON, {NONE}},
        {"\"g1\"", "\"other\":7", false, REQUEST_GO_ON, {NONE}},
        {"\"g1\",\"g2\"", "\"g2\":100", false, REQUEST_GO_ON, {NONE, SUCCEED}},
        {"\"g1\",\"g2\"", "\"g2\":1,\"g1\":100", false, REQUEST_ANSWERED, {SUCCEED, EXPIRED}},
        {"\"g1\",\"g2\"", "\"g1\":1,\"g2\":101", true, REQUEST_WAIT, {EXPIRED, NOT_APPLIED}},
        {"\"g1\",\"g1\"", "\"g1\":100", false, REQUEST_GO_ON, {SUCCEED}},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char json[512];
        snprintf(json, sizeof json,
                 "{\"groups\":[%s],\"name\":\"m\"," RANGE ",\"groupModRevisions\":{%s}}",
                 table[i].groups, table[i].revisions);
        ck_assert(asking_parse(&asking, json));
        enum request_step step = request_gate(&asking.request, asking.world, table[i].may_wait);
        ck_assert_msg(step == table[i].step, "row %zu: %d", i, step);
        for (size_t k = 0; k < asking.request.group_count; k++) {
            const struct request_group *group = &asking.request.groups[k];
            int status = group->gated ? group->status : NONE;
            ck_assert_msg(status == table[i].statuses[k], "row %zu: %d", i, status);
        }
    }
}
END_TEST

static enum request_step clamp(const char *groups, const char *range, const char *revisions)
{
    char json[512];
    snprintf(json, sizeof json,
             "{\"groups\":[%s],\"name\":\"m\",\"timeRange\":{%s},\"groupModRevisions\":{%s}}",
             groups, range, revisions);
    ck_assert_msg(asking_parse(&asking, json), "%s", asking.err.text);
    return request_gate(&asking.request, asking.world, false);
}

/* g1 was created at 10:00:00.000000005, g2 at 11:00:00.250, staged does not tell. */
START_TEST(clamps)
{
    static const char early[] =
        "\"begin\":\"2026-11-30T09:00:00Z\",\"end\":\"2026-11-30T12:00:00Z\"";
    const Google__Protobuf__Timestamp *begin;
    ck_assert_int_eq(clamp("\"g1\"", early, ""), REQUEST_GO_ON);
    begin = asking.request.message->time_range->begin;
    ck_assert_int_eq(begin->seconds, 1796029200); /* no revisions: as it was */

    ck_assert_int_eq(clamp("\"g1\"", early, "\"g1\":0"), REQUEST_GO_ON);
    begin = asking.request.message->time_range->begin;
    ck_assert_int_eq(begin->seconds, 1796032800);
    ck_assert_int_eq(begin->nanos, 5);

    ck_assert_int_eq(clamp("\"g2\",\"g1\",\"nope\",\"staged\"", early, "\"x\":1"), REQUEST_GO_ON);
    begin = asking.request.message->time_range->begin;
    ck_assert_int_eq(begin->seconds, 1796036400);
    ck_assert_int_eq(begin->nanos, 250000000);

    ck_assert_int_eq(clamp("\"staged\"", early, "\"staged\":0"), REQUEST_GO_ON);
    ck_assert_int_eq(asking.request.message->time_range->begin->seconds, 1796029200);
}
END_TEST

START_TEST(empty_ranges)
{
    ck_assert_int_eq(clamp("\"g1\"",
                           "\"begin\":\"2026-11-30T09:00:00Z\",\"end\":\"2026-11-30T10:00:00Z\"",
                           "\"g1\":100"),
                     REQUEST_ANSWERED);
    ck_assert(asking.request.groups[0].gated);
    ck_assert_int_eq(asking.request.groups[0].status, SUCCEED);
    /* One instant is a range. */
    ck_assert_int_eq(
        clamp("\"g2\"", "\"begin\":\"2026-11-30T09:00:00Z\",\"end\":\"2026-11-30T11:00:00.250Z\"",
              "\"x\":1"),
        REQUEST_GO_ON);
    ck_assert_int_eq(
        clamp("\"g2\"", "\"begin\":\"2026-11-30T09:00:00Z\",\"end\":\"2026-11-30T11:00:00.249Z\"",
              "\"x\":1"),
        REQUEST_ANSWERED);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("request_gate");
    TCase *tcase = tcase_create("gate");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, statuses);
    tcase_add_test(tcase, clamps);
    tcase_add_test(tcase, empty_ranges);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
