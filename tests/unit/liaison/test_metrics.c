// SPDX-License-Identifier: Apache-2.0
/* The text exposition: numbers, labels that need escapes, histograms, sums over threads, bounds. */
#include "liaison/metrics.h"
#include "tests/unit/frame/unit.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct metrics *metrics;

static void setup(void)
{
    metrics = metrics_new();
}

static void teardown(void)
{
    metrics_free(&metrics);
    ck_assert_ptr_null(metrics);
}

static void expect_line(const char *wanted)
{
    char *text = metrics_text(metrics);
    char line[512];
    (void)snprintf(line, sizeof line, "\n%s\n", wanted);
    ck_assert_msg(strstr(text, line) != NULL, "no line %s in\n%s", wanted, text);
    free(text);
}

START_TEST(counters_and_seconds)
{
    const char *const labels[] = {"sw_metric", "measure", "query"};
    metrics_add(metrics_series(metrics, METRIC_STARTED, labels), 1);
    metrics_add(metrics_series(metrics, METRIC_STARTED, labels), 2);
    metrics_add(metrics_series(metrics, METRIC_LATENCY, labels), 1500000000);
    metrics_add(metrics_series(metrics, METRIC_LATENCY, labels), 1);
    expect_line("banyandb_liaison_grpc_total_started{group=\"sw_metric\",service=\"measure\","
                "method=\"query\"} 3");
    expect_line("banyandb_liaison_grpc_total_latency{group=\"sw_metric\",service=\"measure\","
                "method=\"query\"} 1.500000001");
    expect_line("# TYPE banyandb_liaison_grpc_total_started counter");
    metrics_add(NULL, 1);
}
END_TEST

START_TEST(counters_without_labels_begin_at_zero)
{
    expect_line("bydb_cut_answers_total 0");
    expect_line("bydb_aggregation_slices_total 0");
}
END_TEST

START_TEST(labels_are_escaped)
{
    metrics_set(metrics_series(metrics, METRIC_NODE_UP, (const char *[]){"a\"b\\c\nd\xff\xc3\xa9"}),
                -2);
    expect_line("bydb_node_up{node=\"a\\\"b\\\\c\\nd?\xc3\xa9\"} -2");
}
END_TEST

START_TEST(long_labels_are_cut)
{
    char name[1000];
    memset(name, '"', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    struct metrics_series *series = metrics_series(metrics, METRIC_NODE_UP, (const char *[]){name});
    metrics_add(series, 1);
    name[500] = '\0'; /* cut, they are the same */
    ck_assert_ptr_eq(series, metrics_series(metrics, METRIC_NODE_UP, (const char *[]){name}));
}
END_TEST

START_TEST(histograms)
{
    const char *const labels[] = {"query", "", "d1", "data", ""};
    struct metrics_series *series = metrics_series(metrics, METRIC_PUB_LATENCY, labels);
    metrics_observe(series, 5000000);
    metrics_observe(series, 5000001);
    metrics_observe(series, 60000000000);
#define NAME "banyandb_queue_pub_total_latency"
#define LABELS                                                                                     \
    "operation=\"query\",group=\"\",remote_node=\"d1\",remote_role=\"data\",remote_tier=\"\""
    expect_line(NAME "_bucket{" LABELS ",le=\"0.005\"} 1");
    expect_line(NAME "_bucket{" LABELS ",le=\"0.01\"} 2");
    expect_line(NAME "_bucket{" LABELS ",le=\"10\"} 2");
    expect_line(NAME "_bucket{" LABELS ",le=\"+Inf\"} 3");
    expect_line(NAME "_count{" LABELS "} 3");
    expect_line(NAME "_sum{" LABELS "} 60.010000001");
}
END_TEST

START_TEST(invented_names_end_in_one_series)
{
    char name[32];
    for (int i = 0; i < 3 * METRICS_MAX_SERIES; i++) {
        (void)snprintf(name, sizeof name, "g%d", i);
        metrics_add(metrics_series(metrics, METRIC_INCOMPLETE, (const char *[]){name}), 1);
    }
    expect_line("bydb_incomplete_answers_total{group=\"g0\"} 1");
    expect_line("bydb_incomplete_answers_total{group=\"_other\"} 1024");
}
END_TEST

START_TEST(threads_are_added_up)
{
    struct metrics_shard *first = metrics_shard(metrics);
    struct metrics_shard *second = metrics_shard(metrics);
    struct charge charge = {0};
    charge_add(&charge, CHARGE_MESSAGE, 100);
    charge_add(&charge, CHARGE_MESSAGE, 50);
    metrics_charge(first, &charge);
    metrics_charge(second, &charge);
    metrics_live(first, METRIC_LIVE_QUERIES, 3);
    metrics_live(first, METRIC_LIVE_QUERIES, 1);
    metrics_live(second, METRIC_LIVE_QUERIES, 1);
    expect_line("bydb_live_messages 4");
    expect_line("bydb_charged_bytes{kind=\"message\"} 300");
    expect_line("bydb_live_queries 2");
    expect_line("bydb_live_calls 0");
}
END_TEST

static void *add_much(void *owner)
{
    (void)owner;
    for (int i = 0; i < 10000; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "g%d", i % 7);
        metrics_add(metrics_series(metrics, METRIC_INCOMPLETE, (const char *[]){name}), 1);
    }
    return NULL;
}

START_TEST(many_threads)
{
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, add_much, NULL), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    expect_line("bydb_incomplete_answers_total{group=\"g0\"} 5716");
    expect_line("bydb_incomplete_answers_total{group=\"g6\"} 5712");
}
END_TEST

/* Every line is a comment or a sample, every family has its two comments. */
START_TEST(the_form_of_the_text)
{
    metrics_add(metrics_series(metrics, METRIC_NODE_UP, (const char *[]){"d1"}), 1);
    char *text = metrics_text(metrics);
    size_t helps = 0;
    size_t types = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        helps += strncmp(line, "# HELP ", 7) == 0 ? 1 : 0;
        types += strncmp(line, "# TYPE ", 7) == 0 ? 1 : 0;
        ck_assert(line[0] == '#' || strchr(line, ' ') != NULL);
    }
    ck_assert_uint_eq(helps, METRIC_COUNT - 5); /* charged bytes: six rows, one name */
    ck_assert_uint_eq(types, helps);
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("metrics");
    TCase *tcase = tcase_create("metrics");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, counters_and_seconds);
    tcase_add_test(tcase, counters_without_labels_begin_at_zero);
    tcase_add_test(tcase, labels_are_escaped);
    tcase_add_test(tcase, long_labels_are_cut);
    tcase_add_test(tcase, histograms);
    tcase_add_test(tcase, invented_names_end_in_one_series);
    tcase_add_test(tcase, threads_are_added_up);
    tcase_add_test(tcase, many_threads);
    tcase_add_test(tcase, the_form_of_the_text);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
