// SPDX-License-Identifier: Apache-2.0
/*
 * What has to hold for aggregates of any data: no answer depends on the order in which frames
 * arrive, to the last bit; folded rows come to the same however they lie on nodes; and partials
 * come to the same as rows, ints exactly, sums of floats within 1e-12.
 */
#include "tests/support/frame_random.h"
#include "tests/unit/frame/unit.h"
#include "tests/unit/merge/frames.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define NODES    5
#define ROWS     40
#define SERVICES 6
#define ROUNDS   30
#define TIMES    10
#define PARTS    4 /* that rows are fed in, one after the other */

struct record {
    size_t group;
    int64_t time;
    int64_t series;
    int64_t version;
    size_t service; /* 0: null */
    size_t host;
    bool null;
    double value;
};

struct text {
    char bytes[16384];
    size_t len;
};

static void put(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    text->len +=
        (size_t)vsnprintf(text->bytes + text->len, sizeof text->bytes - text->len, format, list);
    va_end(list);
    ck_assert_uint_lt(text->len, sizeof text->bytes);
}

/* "-0" would be read as an int in a message. */
static void put_value(struct text *text, double value)
{
    put(text, value == 0 && signbit(value) ? " -0.0" : " %.17g", value);
}

static const struct plan_tag svc = {{(const uint8_t *)"d", 1}, {(const uint8_t *)"svc", 3}};

static struct plan random_plan(uint64_t *state, enum plan_mode mode)
{
    static struct layout_column columns[] = {
        {.family = {(const uint8_t *)"d", 1}, .name = {(const uint8_t *)"svc", 3}},
        {.family = {(const uint8_t *)"d", 1}, .name = {(const uint8_t *)"host", 4}},
        {.name = {(const uint8_t *)"v", 1}},
    };
    static const struct layout layout = {.tag_count = 2, .field_count = 1, .columns = columns};
    bool by_tag = mode == PLAN_FOLD && random_below(state, 2) == 0;
    return (struct plan){
        .group_count = 2,
        .order = by_tag ? PLAN_BY_TAG : PLAN_BY_TIME,
        .order_tag = {slice_str("d"), slice_str("host")},
        .descending = random_below(state, 2) == 0,
        .keys = &svc,
        .key_count = random_below(state, 5) == 0 ? 0 : 1,
        .mode = mode,
        .agg = {.function = (enum plan_function)random_below(state, 5),
                .type = (enum plan_type)random_below(state, 2),
                .field = slice_str("v"),
                .mean_floor = random_below(state, 2) == 0},
        .top = {.number = (int64_t)random_below(state, 5),
                .ascending = random_below(state, 2) == 0,
                .field = slice_str("v")},
        .offset = random_below(state, 3),
        .limit = 1 + random_below(state, 10),
        .layout = &layout,
    };
}

/* Ints of any size; floats of all sizes, now and then not even finite. */
static double random_value(uint64_t *state, enum plan_type type, bool tame)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, DBL_MAX, -DBL_MAX, 0x1p-1074, -0.0};
    double value = (double)random_below(state, 2000) - 1000;
    if (type == PLAN_INT) {
        return value;
    }
    if (!tame && random_below(state, 8) == 0) {
        return odd[random_below(state, sizeof odd / sizeof *odd)];
    }
    int spread = tame ? 20 : 2000;
    return ldexp(value / 7, (int)random_below(state, (size_t)spread) - spread / 2);
}

static struct msg *frame_of(const struct text *text, uint64_t *state)
{
    return frames_make(text->bytes, 3 + (unsigned)random_below(state, 2), NULL);
}

static void shuffle(uint64_t *state, size_t *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t other = random_below(state, i + 1);
        places[i] = places[other];
        places[other] = i;
    }
}

/* Partials of any nodes, fed in any order. */

static struct msg *random_partials(uint64_t *state, const struct plan *plan)
{
    struct text text = {.len = 0};
    const char *number = plan->agg.type == PLAN_INT ? "int" : "float";
    bool messages = random_below(state, 3) == 0;
    put(&text, "shard tag:d.svc:%s tag:d.host:%s field:v:%s", messages ? "tv" : "str",
        random_below(state, 2) == 0 ? "tv" : "str", messages ? "fv" : number);
    if (plan->agg.function == PLAN_MEAN) {
        put(&text, " field:v__agg_count:%s", messages ? "fv" : number);
    }
    for (size_t rows = random_below(state, ROWS); rows > 0; rows--) {
        size_t service = random_below(state, SERVICES);
        put(&text, service == 0 ? " | 0 -" : " | 0 svc-%zu", service);
        put(&text, random_below(state, 5) == 0 ? " -" : " host-%zu", random_below(state, 1000));
        if (random_below(state, 9) == 0) {
            put(&text, " -");
        } else {
            put_value(&text, random_value(state, plan->agg.type, false));
        }
        if (plan->agg.function == PLAN_MEAN) {
            put(&text, " %zu", random_below(state, 10));
        }
    }
    return frame_of(&text, state);
}

static char *merge_in_order(const struct plan *plan, const struct frames_msg *msgs, size_t count,
                            const size_t *order)
{
    struct frames_msg fed[2 * NODES];
    for (size_t i = 0; i < count; i++) {
        fed[i] = msgs[order[i]];
        fed[i].msg = msg_copy_of(msg_bytes(msgs[order[i]].msg), NULL);
    }
    return frames_merge(plan, fed, count, 1 + order[0] * 50);
}

static void check_arrival(uint64_t *state, const struct plan *plan, struct frames_msg *msgs,
                          size_t count)
{
    size_t order[2 * NODES];
    char *expected = NULL;
    for (int turn = 0; turn < 5; turn++) {
        shuffle(state, order, count);
        char *answer = merge_in_order(plan, msgs, count, order);
        if (expected == NULL) {
            expected = answer;
        } else {
            ck_assert_str_eq(answer, expected);
            free(answer);
        }
    }
    free(expected);
    for (size_t i = 0; i < count; i++) {
        msg_release(&msgs[i].msg);
    }
}

START_TEST(arrival_of_partials_does_not_show)
{
    uint64_t state = (uint64_t)_i + 1;
    for (int round = 0; round < ROUNDS; round++) {
        const struct plan plan = random_plan(&state, PLAN_PARTIALS);
        struct frames_msg msgs[2 * NODES];
        for (size_t i = 0; i < 2 * NODES; i++) {
            msgs[i] = (struct frames_msg){
                .group = i % 2, .rank = i / 2, .msg = random_partials(&state, &plan)};
        }
        check_arrival(&state, &plan, msgs, 2 * NODES);
    }
}
END_TEST

/* Rows on any nodes */

static size_t random_records(uint64_t *state, enum plan_type type, bool tame,
                             struct record *records)
{
    size_t count = 0;
    while (count < ROWS) {
        struct record record = {
            .group = random_below(state, 2),
            .time = (int64_t)random_below(state, TIMES),
            .series = (int64_t)random_below(state, 6) - 3,
        };
        bool known = false;
        for (size_t i = 0; i < count; i++) {
            known = known || (records[i].group == record.group && records[i].time == record.time &&
                              records[i].series == record.series);
        }
        if (known) {
            continue;
        }
        for (size_t versions = 1 + random_below(state, 2); versions > 0 && count < ROWS;
             versions--) { /* what is rewritten may have other tags */
            record.version++;
            record.service = random_below(state, SERVICES);
            record.host = random_below(state, 4);
            record.null = random_below(state, 9) == 0;
            record.value = random_value(state, type, tame);
            records[count++] = record;
        }
    }
    return count;
}

static void put_rows_head(struct text *text, uint64_t *state, const struct plan *plan)
{
    const char *number = plan->agg.type == PLAN_INT ? "int" : "float";
    put(text, "time version series tag:d.svc:%s tag:d.host:%s field:v:%s",
        random_below(state, 2) == 0 ? "tv" : "str", random_below(state, 2) == 0 ? "tv" : "str",
        random_below(state, 2) == 0 ? "fv" : number);
}

static void put_record(struct text *text, const struct record *record)
{
    put(text, " | %lld %lld %lld", (long long)record->time, (long long)record->version,
        (long long)record->series);
    put(text, record->service == 0 ? " -" : " svc-%zu", record->service);
    put(text, record->host == 0 ? " -" : " a-host-with-a-long-name-%zu", record->host);
    if (record->null) {
        put(text, " -");
    } else {
        put_value(text, record->value);
    }
}

/* Each version of each record on one node at least, now and then on more. */
static void deal(uint64_t *state, const struct plan *plan, const struct record *records,
                 size_t count, struct frames_msg *msgs)
{
    static struct text texts[2 * NODES];
    for (size_t i = 0; i < 2 * NODES; i++) {
        texts[i].len = 0;
        put_rows_head(&texts[i], state, plan);
    }
    for (size_t i = 0; i < count; i++) {
        size_t first = random_below(state, NODES);
        for (size_t node = 0; node < NODES; node++) {
            if (node == first || random_below(state, 4) == 0) {
                put_record(&texts[2 * node + records[i].group], &records[i]);
            }
        }
    }
    for (size_t i = 0; i < 2 * NODES; i++) {
        msgs[i] =
            (struct frames_msg){.group = i % 2, .rank = i / 2, .msg = frame_of(&texts[i], state)};
    }
}

START_TEST(arrival_of_rows_does_not_show)
{
    struct record records[ROWS];
    uint64_t state = (uint64_t)_i + 1;
    for (int round = 0; round < ROUNDS; round++) {
        const struct plan plan = random_plan(&state, PLAN_FOLD);
        struct frames_msg msgs[2 * NODES];
        size_t count = random_records(&state, plan.agg.type, false, records);
        deal(&state, &plan, records, count, msgs);
        check_arrival(&state, &plan, msgs, 2 * NODES);
    }
}
END_TEST

START_TEST(where_rows_lie_does_not_show)
{
    struct record records[ROWS];
    uint64_t state = (uint64_t)_i + 1;
    for (int round = 0; round < ROUNDS; round++) {
        const struct plan plan = random_plan(&state, PLAN_FOLD);
        size_t count = random_records(&state, plan.agg.type, false, records);
        char *expected = NULL;
        for (int turn = 0; turn < 4; turn++) {
            struct frames_msg msgs[2 * NODES];
            deal(&state, &plan, records, count, msgs);
            char *answer = frames_merge(&plan, msgs, 2 * NODES, 1000);
            if (expected != NULL) {
                ck_assert_str_eq(answer, expected);
                free(expected);
            }
            expected = answer;
        }
        free(expected);
    }
}
END_TEST

/* Each part has the records of some times, however many there are. */
static size_t deal_part(uint64_t *state, const struct plan *plan, const struct record *records,
                        size_t count, size_t part, const size_t *parts, struct frames_msg *msgs)
{
    struct record mine[ROWS];
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (parts[records[i].time] == part) {
            mine[found++] = records[i];
        }
    }
    deal(state, plan, mine, found, msgs);
    for (size_t i = 0; i < 2 * NODES; i++) {
        msgs[i].part = part;
    }
    return 2 * NODES;
}

START_TEST(parts_do_not_show)
{
    struct record records[ROWS];
    uint64_t state = (uint64_t)_i + 1;
    for (int round = 0; round < ROUNDS; round++) {
        const struct plan plan = random_plan(&state, PLAN_FOLD);
        size_t count = random_records(&state, plan.agg.type, false, records);
        struct frames_msg msgs[PARTS * 2 * NODES];
        deal(&state, &plan, records, count, msgs);
        char *expected = frames_merge(&plan, msgs, 2 * NODES, 1000);
        size_t parts[TIMES];
        for (size_t time = 0; time < TIMES; time++) {
            parts[time] = random_below(&state, PARTS);
        }
        size_t dealt = 0;
        for (size_t part = 0; part < PARTS; part++) {
            dealt += deal_part(&state, &plan, records, count, part, parts, msgs + dealt);
        }
        char *answer = frames_merge(&plan, msgs, dealt, 1 + random_below(&state, 50));
        ck_assert_str_eq(answer, expected);
        free(answer);
        free(expected);
    }
}
END_TEST

/* Partials made as nodes make them, beside the rows. */

struct total {
    bool rows;
    double sum;
    double least;
    double greatest;
    size_t count;
};

static bool is_newest(const struct record *records, size_t count, size_t at)
{
    for (size_t i = 0; i < count; i++) {
        if (records[i].group == records[at].group && records[i].time == records[at].time &&
            records[i].series == records[at].series && records[i].version > records[at].version) {
            return false;
        }
    }
    return true;
}

static void put_partial(struct text *text, const struct plan *plan, size_t service,
                        const struct total *total)
{
    put(text, service == 0 ? " | 0 -" : " | 0 svc-%zu", service);
    bool is_int = plan->agg.type == PLAN_INT;
    switch (plan->agg.function) {
    case PLAN_SUM:
    case PLAN_MEAN:
        put(text, " - %.17g", total->sum);
        break;
    case PLAN_COUNT:
        put(text, " - %zu", total->count);
        break;
    case PLAN_MIN:
        put(text, total->count == 0 && is_int ? " - 9223372036854775807" : " - %.17g",
            total->count == 0 ? DBL_MAX : total->least);
        break;
    case PLAN_MAX:
        put(text, total->count == 0 && is_int ? " - -9223372036854775808" : " - %.17g",
            total->count == 0 ? -DBL_MAX : total->greatest);
        break;
    }
    if (plan->agg.function == PLAN_MEAN) {
        put(text, " %zu", total->count);
    }
}

/* Totals of the records that are on this node: places[i] says on which. */
static struct msg *partials_of(uint64_t *state, const struct plan *plan,
                               const struct record *records, size_t count, const size_t *places,
                               size_t node)
{
    struct text text = {.len = 0};
    struct total totals[SERVICES] = {{0}};
    for (size_t i = 0; i < count; i++) {
        struct total *total = &totals[records[i].service];
        if (places[i] != node || !is_newest(records, count, i)) {
            continue;
        }
        total->rows = true;
        if (!records[i].null) {
            double value = records[i].value;
            total->sum += value;
            total->least = total->count == 0 ? value : fmin(total->least, value);
            total->greatest = total->count == 0 ? value : fmax(total->greatest, value);
            total->count++;
        }
    }
    const char *number = plan->agg.type == PLAN_INT ? "int" : "float";
    put(&text, "shard tag:d.svc:str tag:d.host:str field:v:%s", number);
    if (plan->agg.function == PLAN_MEAN) {
        put(&text, " field:v__agg_count:%s", number);
    }
    for (size_t service = 0; service < SERVICES; service++) {
        if (totals[service].rows) {
            put_partial(&text, plan, service, &totals[service]);
        }
    }
    return frame_of(&text, state);
}

/* Answers of "svc null value" rows: value by service. */
static size_t read_answer(char *answer, double *values)
{
    static const char *const names[] = {"null", "svc-1", "svc-2", "svc-3", "svc-4", "svc-5"};
    size_t rows = 0;
    char *rest = NULL;
    for (char *row = strtok_r(answer, ";", &rest); row != NULL; row = strtok_r(NULL, ";", &rest)) {
        char name[32];
        char value[64];
        ck_assert_int_eq(sscanf(row, " %31s %*s %63s", name, value), 2);
        for (size_t i = 0; i < SERVICES; i++) {
            if (strcmp(name, names[i]) == 0) {
                values[i] = strcmp(value, "null") == 0 ? 1e300 : strtod(value, NULL);
            }
        }
        rows++;
    }
    return rows;
}

/* What nodes may lose when they add up floats: 1e-12 of all that goes in, as terms may cancel. */
static double rounding(const struct plan *plan, const struct record *records, size_t count,
                       size_t service)
{
    double all = 0;
    bool adds = plan->agg.function == PLAN_SUM || plan->agg.function == PLAN_MEAN;
    for (size_t i = 0; i < count && adds && plan->agg.type == PLAN_FLOAT; i++) {
        all += records[i].service == service ? fabs(records[i].value) : 0;
    }
    return 1e-12 * all;
}

START_TEST(partials_come_to_the_same_as_rows)
{
    struct record records[ROWS];
    uint64_t state = (uint64_t)_i + 1;
    for (int round = 0; round < ROUNDS; round++) {
        struct plan plan = random_plan(&state, PLAN_FOLD);
        plan.key_count = 1;
        plan.top.number = 0;
        plan.offset = 0;
        plan.limit = 100;
        size_t count = random_records(&state, plan.agg.type, true, records);
        size_t places[ROWS];
        struct frames_msg msgs[2 * NODES];
        for (size_t i = 0; i < count; i++) {
            places[i] = 2 * random_below(&state, NODES) + records[i].group;
        }
        deal(&state, &plan, records, count, msgs);
        char *rows = frames_merge(&plan, msgs, 2 * NODES, 1000);
        plan.mode = PLAN_PARTIALS;
        for (size_t i = 0; i < 2 * NODES; i++) {
            msgs[i] = (struct frames_msg){
                .group = i % 2,
                .rank = i / 2,
                .msg = partials_of(&state, &plan, records, count, places, i),
            };
        }
        char *partials = frames_merge(&plan, msgs, 2 * NODES, 1000);
        double a[SERVICES] = {0};
        double b[SERVICES] = {0};
        ck_assert_uint_eq(read_answer(rows, a), read_answer(partials, b));
        for (size_t i = 0; i < SERVICES; i++) {
            double allowed = rounding(&plan, records, count, i);
            ck_assert_msg(fabs(a[i] - b[i]) <= allowed, "service %zu: %a, %a", i, a[i], b[i]);
        }
        free(rows);
        free(partials);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge aggregate");
    TCase *tests = tcase_create("aggregate");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, arrival_of_partials_does_not_show, 0, 10);
    tcase_add_loop_test(tests, arrival_of_rows_does_not_show, 0, 10);
    tcase_add_loop_test(tests, where_rows_lie_does_not_show, 0, 10);
    tcase_add_loop_test(tests, parts_do_not_show, 0, 10);
    tcase_add_loop_test(tests, partials_come_to_the_same_as_rows, 0, 10);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
