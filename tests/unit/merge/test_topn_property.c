// SPDX-License-Identifier: Apache-2.0
/* TopN against a model that knows all values at once: neither the order in which nodes answer nor
 * how the items are split among them changes the answer. */
#include "tests/support/frame_random.h"
#include "tests/unit/frame/unit.h"
#include "tests/unit/merge/lists.h"

#include <stdio.h>

static const enum plan_function functions[] = {PLAN_SUM, PLAN_COUNT, PLAN_MIN, PLAN_MAX, PLAN_MEAN};

#define ENTITIES 7
#define TIMES    5

struct truth {
    bool has[ENTITIES][TIMES];
    int64_t version[ENTITIES][TIMES];
    int64_t value[ENTITIES][TIMES];
};

static void note(struct truth *truth, size_t entity, size_t time, int64_t version, int64_t value)
{
    if (!truth->has[entity][time] || version > truth->version[entity][time]) {
        truth->has[entity][time] = true;
        truth->version[entity][time] = version;
        truth->value[entity][time] = value;
    }
}

struct ranked {
    size_t entity;
    int64_t best;
    int64_t result;
    bool ascending;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;
    int sign = x->ascending ? 1 : -1;
    if (x->result != y->result) {
        return x->result < y->result ? -sign : sign;
    }
    if (x->best != y->best) {
        return x->best < y->best ? -sign : sign;
    }
    return x->entity < y->entity ? -1 : 1;
}

static int64_t fold(const int64_t *values, size_t count, const struct topn_plan *plan)
{
    int64_t sum = 0;
    int64_t least = values[0];
    int64_t most = values[0];
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    int64_t mean = sum / (int64_t)count;
    switch (plan->agg.function) {
    case PLAN_SUM:
        return sum;
    case PLAN_COUNT:
        return (int64_t)count;
    case PLAN_MIN:
        return least;
    case PLAN_MAX:
        return most;
    case PLAN_MEAN:
        return plan->agg.mean_floor && mean < 1 ? 1 : mean;
    }
    return 0;
}

static bool rank_entity(const struct truth *truth, size_t entity, const struct topn_plan *plan,
                        struct ranked *ranked)
{
    int64_t values[TIMES];
    size_t count = 0;
    for (size_t time = 0; time < TIMES; time++) {
        if (truth->has[entity][time]) {
            values[count++] = truth->value[entity][time];
        }
    }
    if (count == 0) {
        return false;
    }
    int64_t best = values[0];
    for (size_t i = 1; i < count; i++) {
        best = (plan->ascending ? values[i] < best : values[i] > best) ? values[i] : best;
    }
    *ranked = (struct ranked){.entity = entity, .best = best, .ascending = plan->ascending};
    ranked->result = plan->every ? fold(values, count, plan) : fold(&best, 1, plan);
    return true;
}

static void expect(const struct truth *truth, const struct topn_plan *plan, char text[LISTS_SIZE])
{
    struct ranked ranked[ENTITIES];
    size_t count = 0;
    for (size_t entity = 0; entity < ENTITIES; entity++) {
        count += rank_entity(truth, entity, plan, &ranked[count]);
    }
    qsort(ranked, count, sizeof *ranked, by_rank);
    char *at = text;
    *at = '\0';
    for (size_t i = 0; i < count && i < plan->number; i++) {
        at += sprintf(at, "%s%c=%lld", i == 0 ? "" : " ", (char)('a' + ranked[i].entity),
                      (long long)ranked[i].result);
    }
}

struct found {
    size_t entity;
    size_t time;
    int64_t version;
    int64_t value;
};

static void shuffle(struct found *found, size_t count, uint64_t *state)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = random_below(state, i);
        struct found moved = found[i - 1];
        found[i - 1] = found[other];
        found[other] = moved;
    }
}

/* The items dealt to some nodes, in their order. */
static void ask_nodes(const struct topn_plan *plan, const struct found *found, size_t count,
                      uint64_t *state, char said[LISTS_SIZE])
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    struct topn *topn = topn_open(plan, &arena);
    struct topn_batch *batch = topn_batch_new(topn);
    topn_batch_begin(batch, 0);
    for (size_t i = 0; i < count;) {
        char text[LISTS_SIZE] = "";
        char *at = text;
        size_t end = i + 1 + random_below(state, count - i);
        for (; i < end; i++) {
            at += sprintf(at, "%c=%lld@%zu/%lld ", (char)('a' + found[i].entity),
                          (long long)found[i].value, found[i].time, (long long)found[i].version);
        }
        lists_feed(batch, text);
    }
    topn_batch_fold(batch);
    lists_read(topn, said);
    arena_fini(&arena);
}

static size_t invent(struct found *found, struct truth *truth, uint64_t *state)
{
    size_t count = 1 + random_below(state, 30);
    for (size_t i = 0; i < count; i++) {
        found[i] = (struct found){.entity = random_below(state, ENTITIES),
                                  .time = random_below(state, TIMES),
                                  .version = (int64_t)i + 1,
                                  .value = (int64_t)random_below(state, 9) - 3};
        note(truth, found[i].entity, found[i].time, found[i].version, found[i].value);
    }
    return count;
}

START_TEST(neither_order_nor_split_matters)
{
    uint64_t state = 4711;
    for (size_t round = 0; round < 1500; round++) {
        struct found found[30];
        struct truth truth = {0};
        size_t count = invent(found, &truth, &state);
        const struct topn_plan plan = {
            .agg = {.function = functions[random_below(&state, 5)],
                    .mean_floor = random_below(&state, 2) == 0},
            .ascending = random_below(&state, 2) == 0,
            .every = random_below(&state, 2) == 0,
            .number = 1 + random_below(&state, ENTITIES + 1),
        };
        char wanted[LISTS_SIZE];
        char said[LISTS_SIZE];
        expect(&truth, &plan, wanted);
        for (size_t turn = 0; turn < 3; turn++) {
            ask_nodes(&plan, found, count, &state, said);
            ck_assert_msg(strcmp(said, wanted) == 0, "round %zu: \"%s\" instead of \"%s\"", round,
                          said, wanted);
            shuffle(found, count, &state);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge topn property");
    TCase *tests = tcase_create("topn property");
    tcase_add_test(tests, neither_order_nor_split_matters);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
