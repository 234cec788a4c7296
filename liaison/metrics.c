// SPDX-License-Identifier: Apache-2.0
/*
 * A family keeps its series in a list that only grows, under one mutex; the numbers are atomics
 * that nobody orders by. Label values are rendered once, when the series is made: the text is both
 * its identity and what is printed.
 */
#include "liaison/metrics.h"

#include "liaison/log_line.h"
#include "liaison/own.h"

#include <assert.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SHARDS   256
#define BUCKET_COUNT 12
#define LABEL_BYTES  128 /* of one value; the rest is cut */
#define LABELS_SIZE  (METRICS_MAX_LABELS * (2 * LABEL_BYTES + 64))

enum kind { COUNTER, COUNTER_SECONDS, GAUGE, HISTOGRAM, LIVE, LIVE_MAX, HELD };

static const struct {
    enum kind kind;
    const char *name;
    const char *help;
    const char *labels;
} families[] = {
#define METRIC_FAMILY(constant, kind, name, help, labels) {kind, name, help, labels},
    METRICS(METRIC_FAMILY)
#undef METRIC_FAMILY
};

/* Upper ends; the last bucket has none. */
static const struct {
    uint64_t nanoseconds;
    const char *text;
} buckets[BUCKET_COUNT] = {
    {5000000, "0.005"},  {10000000, "0.01"},  {25000000, "0.025"}, {50000000, "0.05"},
    {100000000, "0.1"},  {250000000, "0.25"}, {500000000, "0.5"},  {1000000000, "1"},
    {2500000000, "2.5"}, {5000000000, "5"},   {10000000000, "10"}, {UINT64_MAX, "+Inf"},
};

struct metrics_series {
    struct metrics_series *next; /* own: in its family's list */
    char *labels;                /* own: `group="g",method="query"`, or "" */
    atomic_int_fast64_t value;   /* of a histogram: the sum */
    atomic_uint_fast64_t counts[BUCKET_COUNT];
};

struct metrics_shard {
    atomic_uint_fast64_t live[METRIC_COUNT]; /* those of kind LIVE and LIVE_MAX */
};

struct family {
    struct metrics_series *first; /* own */
    struct metrics_series *last;  /* borrow: in the list of first */
    size_t count;
};

struct metrics {
    pthread_mutex_t mutex; /* guards the lists, not the numbers */
    struct family families[METRIC_COUNT];
    size_t shard_count;
    struct metrics_shard *shards[MAX_SHARDS]; /* own */
};

static struct metrics_series *refusals(struct metrics *metrics, enum refusal reason)
{
    static const char *const reasons[REFUSAL_COUNT] = {
        [REFUSED_NO_PLACE] = "no_place",
        [REFUSED_PROCESS_MEMORY] = "process_memory",
        [REFUSED_QUERY_MEMORY] = "query_memory",
    };
    return metrics_series(metrics, METRIC_REFUSED, &reasons[reason]);
}

void metrics_refused(struct metrics *metrics, enum refusal reason)
{
    metrics_add(refusals(metrics, reason), 1);
}

/* A counter that appears with its first event hides that one from whoever looks at increases. */
static void begin_at_zero(struct metrics *metrics)
{
    static const char *const none[1] = {NULL};
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        if (families[i].kind == COUNTER && families[i].labels[0] == '\0') {
            metrics_series(metrics, (enum metric)i, none);
        }
    }
    for (int reason = 0; reason < REFUSAL_COUNT; reason++) {
        refusals(metrics, (enum refusal)reason);
    }
}

struct metrics *metrics_new(void)
{
    struct metrics *metrics = own_array(1, sizeof *metrics);
    pthread_mutex_init(&metrics->mutex, NULL);
    begin_at_zero(metrics);
    return metrics;
}

void metrics_free(struct metrics **metrics)
{
    struct metrics *freed = *metrics;
    *metrics = NULL;
    if (freed == NULL) {
        return;
    }
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        struct metrics_series *next;
        for (struct metrics_series *at = freed->families[i].first; at != NULL; at = next) {
            next = at->next;
            free(at->labels);
            free(at);
        }
    }
    for (size_t i = 0; i < freed->shard_count; i++) {
        free(freed->shards[i]);
    }
    pthread_mutex_destroy(&freed->mutex);
    free(freed);
}

/* Series */

static size_t render_value(char *out, const char *value)
{
    const size_t len = strnlen(value, LABEL_BYTES);
    size_t used = 0;
    for (size_t i = 0; i < len;) {
        const size_t sequence = log_line_utf8(value + i, len - i);
        if (value[i] == '\\' || value[i] == '"' || value[i] == '\n') {
            out[used++] = '\\';
            out[used++] = (char)(value[i] == '\n' ? 'n' : value[i]);
        } else if (sequence == 0) {
            out[used++] = '?';
        } else {
            memcpy(out + used, value + i, sequence);
            used += sequence;
        }
        i += sequence == 0 ? 1 : sequence;
    }
    return used;
}

/* NULL values = the series that counts what does not fit. */
static void render_labels(char out[LABELS_SIZE], const char *names, const char *const values[])
{
    size_t used = 0;
    size_t i = 0;
    while (*names != '\0') {
        const size_t len = strcspn(names, ",");
        used += (size_t)snprintf(out + used, 64, "%s%.*s=\"", i == 0 ? "" : ",", (int)len, names);
        used += render_value(out + used, values == NULL ? "_other" : values[i]);
        out[used++] = '"';
        names += len + (names[len] == ',' ? 1 : 0);
        i++;
    }
    out[used] = '\0';
}

static struct metrics_series *find(const struct family *family, const char *labels)
{
    struct metrics_series *at = family->first;
    while (at != NULL && strcmp(at->labels, labels) != 0) {
        at = at->next;
    }
    return at;
}

static struct metrics_series *add(struct family *family, const char *labels)
{
    struct metrics_series *series = own_array(1, sizeof *series);
    series->labels = own_text(labels);
    *(family->first == NULL ? &family->first : &family->last->next) = series;
    family->last = series;
    family->count++;
    return series;
}

struct metrics_series *metrics_series(struct metrics *metrics, enum metric metric,
                                      const char *const values[])
{
    char labels[LABELS_SIZE];
    struct family *family = &metrics->families[metric];
    render_labels(labels, families[metric].labels, values);
    pthread_mutex_lock(&metrics->mutex);
    struct metrics_series *series = find(family, labels);
    if (series == NULL && family->count >= METRICS_MAX_SERIES) {
        render_labels(labels, families[metric].labels, NULL);
        series = find(family, labels);
    }
    if (series == NULL) {
        series = add(family, labels);
    }
    pthread_mutex_unlock(&metrics->mutex);
    return series;
}

void metrics_add(struct metrics_series *series, int64_t amount)
{
    if (series != NULL) {
        atomic_fetch_add_explicit(&series->value, amount, memory_order_relaxed);
    }
}

void metrics_set(struct metrics_series *series, int64_t value)
{
    if (series != NULL) {
        atomic_store_explicit(&series->value, value, memory_order_relaxed);
    }
}

void metrics_observe(struct metrics_series *series, uint64_t nanoseconds)
{
    size_t i = 0;
    if (series == NULL) {
        return;
    }
    while (nanoseconds > buckets[i].nanoseconds) {
        i++;
    }
    atomic_fetch_add_explicit(&series->counts[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&series->value, (int64_t)nanoseconds, memory_order_relaxed);
}

/* Shards */

struct metrics_shard *metrics_shard(struct metrics *metrics)
{
    struct metrics_shard *shard = own_array(1, sizeof *shard);
    pthread_mutex_lock(&metrics->mutex);
    assert(metrics->shard_count < MAX_SHARDS);
    metrics->shards[metrics->shard_count++] = shard;
    pthread_mutex_unlock(&metrics->mutex);
    return shard;
}

void metrics_live(struct metrics_shard *shard, enum metric metric, uint64_t value)
{
    assert(families[metric].kind == LIVE || families[metric].kind == LIVE_MAX);
    atomic_store_explicit(&shard->live[metric], value, memory_order_relaxed);
}

void metrics_charge(struct metrics_shard *shard, const struct charge *charge)
{
    static const struct {
        enum metric count;
        enum metric bytes;
    } kinds[CHARGE_KINDS] = {
        [CHARGE_MESSAGE] = {METRIC_LIVE_MESSAGES, METRIC_CHARGED_MESSAGE},
        [CHARGE_VIEW] = {METRIC_LIVE_VIEWS, METRIC_COUNT}, /* owns no bytes */
        [CHARGE_REGION] = {METRIC_LIVE_REGIONS, METRIC_CHARGED_REGION},
        [CHARGE_RESPONSE] = {METRIC_LIVE_RESPONSES, METRIC_CHARGED_RESPONSE},
        [CHARGE_WIRE] = {METRIC_LIVE_WIRES, METRIC_CHARGED_WIRE},
        [CHARGE_CACHE] = {METRIC_COUNT, METRIC_CHARGED_CACHE}, /* alive, but nobody's */
        [CHARGE_CATALOG] = {METRIC_COUNT, METRIC_CHARGED_CATALOG},
    };
    for (size_t i = 0; i < CHARGE_KINDS; i++) {
        if (kinds[i].count != METRIC_COUNT) {
            metrics_live(shard, kinds[i].count, charge->count[i]);
        }
        if (kinds[i].bytes != METRIC_COUNT) {
            metrics_live(shard, kinds[i].bytes, charge->bytes[i]);
        }
    }
}

/* Exposition */

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
    for (size_t i = 0; i < BUCKET_COUNT; i++) {
        total += atomic_load_explicit(&series->counts[i], memory_order_relaxed);
        print(out, "%s_bucket{%s,le=\"%s\"} %" PRIu64 "\n", name, series->labels, buckets[i].text,
              total);
    }
    print(out, "%s_sum{%s}", name, series->labels);
    print_seconds(out, atomic_load_explicit(&series->value, memory_order_relaxed));
    print(out, "%s_count{%s} %" PRIu64 "\n", name, series->labels, total);
}

static void print_series(FILE *out, enum metric metric, const struct metrics_series *series)
{
    if (families[metric].kind == HISTOGRAM) {
        print_histogram(out, families[metric].name, series);
        return;
    }
    const int64_t value = atomic_load_explicit(&series->value, memory_order_relaxed);
    print(out, series->labels[0] == '\0' ? "%s%s" : "%s{%s}", families[metric].name,
          series->labels);
    if (families[metric].kind == COUNTER_SECONDS) {
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
        [COUNTER] = "counter", [COUNTER_SECONDS] = "counter",
        [GAUGE] = "gauge",     [HISTOGRAM] = "histogram",
        [LIVE] = "gauge",      [LIVE_MAX] = "gauge",
        [HELD] = "gauge",
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
    case LIVE:
        print_live(out, metrics, metric);
        break;
    case LIVE_MAX:
        print_live_max(out, metrics, metric);
        break;
    case HELD:
        print_held(out, metric);
        break;
    case COUNTER:
    case COUNTER_SECONDS:
    case GAUGE:
    case HISTOGRAM:
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
