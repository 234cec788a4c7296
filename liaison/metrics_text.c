// SPDX-License-Identifier: Apache-2.0
/* The text exposition: family after family in the table's order, what has one name under one head.
 * Figures of threads are added up here. */
#include "liaison/metrics_store.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    enum metrics_kind kind;
    const char *name;
    const char *help;
    const char *labels;
} families[] = {
#define METRIC_FAMILY(constant, kind, name, help, labels) {METRICS_##kind, name, help, labels},
    METRICS(METRIC_FAMILY)
#undef METRIC_FAMILY
};

static const char *const bucket_texts[METRICS_BUCKET_COUNT] = {
#define BUCKET_TEXT(nanoseconds, text) text,
    METRICS_BUCKETS(BUCKET_TEXT)
#undef BUCKET_TEXT
};

/* To a stream of memory, which does not fail. */
static void __attribute__((format(printf, 2, 3))) print(FILE *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vfprintf(out, format, arguments);
    va_end(arguments);
}

static void print_seconds(FILE *out, int64_t nanoseconds)
{
    print(out, " %" PRId64 ".%09" PRId64 "\n", nanoseconds / 1000000000, nanoseconds % 1000000000);
}

static void print_histogram(FILE *out, const char *name, const struct metrics_series *series)
{
    uint64_t total = 0;
    for (size_t i = 0; i < METRICS_BUCKET_COUNT; i++) {
        total += atomic_load_explicit(&series->counts[i], memory_order_relaxed);
        print(out, "%s_bucket{%s,le=\"%s\"} %" PRIu64 "\n", name, series->labels, bucket_texts[i],
              total);
    }
    print(out, "%s_sum{%s}", name, series->labels);
    print_seconds(out, atomic_load_explicit(&series->value, memory_order_relaxed));
    print(out, "%s_count{%s} %" PRIu64 "\n", name, series->labels, total);
}

static void print_series(FILE *out, enum metric metric, const struct metrics_series *series)
{
    if (families[metric].kind == METRICS_HISTOGRAM) {
        print_histogram(out, families[metric].name, series);
        return;
    }
    const int64_t value = atomic_load_explicit(&series->value, memory_order_relaxed);
    print(out, series->labels[0] == '\0' ? "%s%s" : "%s{%s}", families[metric].name,
          series->labels);
    if (families[metric].kind == METRICS_COUNTER_SECONDS) {
        print_seconds(out, value);
    } else {
        print(out, " %" PRId64 "\n", value);
    }
}

static void print_live(FILE *out, const struct metrics *metrics, enum metric metric)
{
    const char *labels = families[metric].labels;
    uint64_t total = 0;
    for (size_t i = 0; i < metrics->shard_count; i++) {
        total += atomic_load_explicit(&metrics->shards[i]->live[metric], memory_order_relaxed);
    }
    print(out, labels[0] == '\0' ? "%s%s %" PRIu64 "\n" : "%s{%s} %" PRIu64 "\n",
          families[metric].name, labels, total);
}

static void print_live_max(FILE *out, const struct metrics *metrics, enum metric metric)
{
    uint64_t most = 0;
    for (size_t i = 0; i < metrics->shard_count; i++) {
        const uint64_t one =
            atomic_load_explicit(&metrics->shards[i]->live[metric], memory_order_relaxed);
        most = one > most ? one : most;
    }
    print(out, "%s", families[metric].name);
    print_seconds(out, (int64_t)most);
}

/* What all threads' allocations have taken of the heap and of mappings of their own. */
static void print_held(FILE *out, enum metric metric)
{
    const struct mallinfo2 info = mallinfo2();
    print(out, "%s %zu\n", families[metric].name, info.uordblks + info.hblkhd);
}

static void print_all_series(FILE *out, const struct metrics *metrics, enum metric metric)
{
    for (const struct metrics_series *at = metrics->families[metric].first; at != NULL;
         at = at->next) {
        print_series(out, metric, at);
    }
}

/* Once for all rows of a name. */
static void print_head(FILE *out, enum metric metric)
{
    static const char *const types[] = {
        [METRICS_COUNTER] = "counter", [METRICS_COUNTER_SECONDS] = "counter",
        [METRICS_GAUGE] = "gauge",     [METRICS_HISTOGRAM] = "histogram",
        [METRICS_LIVE] = "gauge",      [METRICS_LIVE_MAX] = "gauge",
        [METRICS_HELD] = "gauge",
    };
    if (metric == 0 || strcmp(families[metric - 1].name, families[metric].name) != 0) {
        print(out, "# HELP %s %s\n# TYPE %s %s\n", families[metric].name, families[metric].help,
              families[metric].name, types[families[metric].kind]);
    }
}

static void print_family(FILE *out, const struct metrics *metrics, enum metric metric)
{
    print_head(out, metric);
    switch (families[metric].kind) {
    case METRICS_LIVE:
        print_live(out, metrics, metric);
        break;
    case METRICS_LIVE_MAX:
        print_live_max(out, metrics, metric);
        break;
    case METRICS_HELD:
        print_held(out, metric);
        break;
    case METRICS_COUNTER:
    case METRICS_COUNTER_SECONDS:
    case METRICS_GAUGE:
    case METRICS_HISTOGRAM:
        print_all_series(out, metrics, metric);
        break;
    }
}

char *metrics_text(struct metrics *metrics)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    pthread_mutex_lock(&metrics->mutex);
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        print_family(out, metrics, (enum metric)i);
    }
    pthread_mutex_unlock(&metrics->mutex);
    (void)fclose(out); /* of memory */
    return text;
}
