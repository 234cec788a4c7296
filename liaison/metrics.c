// SPDX-License-Identifier: Apache-2.0
/*
 * A family keeps its series in a list that only grows, under one mutex; the numbers are atomics
 * that nobody orders by. Label values are rendered once, when the series is made: the text is both
 * its identity and what is printed.
 */
#include "liaison/metrics.h"

#include "liaison/log_line.h"
#include "liaison/metrics_store.h"
#include "liaison/own.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_BYTES 128 /* of one value; the rest is cut */
#define LABELS_SIZE (METRICS_MAX_LABELS * (2 * LABEL_BYTES + 64))

static const struct {
    enum metrics_kind kind;
    const char *labels;
} families[] = {
#define METRIC_FAMILY(constant, kind, name, help, labels) {METRICS_##kind, labels},
    METRICS(METRIC_FAMILY)
#undef METRIC_FAMILY
};

static const uint64_t bucket_ends[] = {
#define BUCKET_END(nanoseconds, text) nanoseconds,
    METRICS_BUCKETS(BUCKET_END)
#undef BUCKET_END
};
_Static_assert(sizeof bucket_ends == METRICS_BUCKET_COUNT * sizeof *bucket_ends, "one end each");

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
        if (families[i].kind == METRICS_COUNTER && families[i].labels[0] == '\0') {
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

static struct metrics_series *find(const struct metrics_family *family, const char *labels)
{
    struct metrics_series *at = family->first;
    while (at != NULL && strcmp(at->labels, labels) != 0) {
        at = at->next;
    }
    return at;
}

static struct metrics_series *add(struct metrics_family *family, const char *labels)
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
    struct metrics_family *family = &metrics->families[metric];
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
    while (nanoseconds > bucket_ends[i]) {
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
    assert(metrics->shard_count < METRICS_MAX_SHARDS);
    metrics->shards[metrics->shard_count++] = shard;
    pthread_mutex_unlock(&metrics->mutex);
    return shard;
}

void metrics_live(struct metrics_shard *shard, enum metric metric, uint64_t value)
{
    assert(families[metric].kind == METRICS_LIVE || families[metric].kind == METRICS_LIVE_MAX);
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
