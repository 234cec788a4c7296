// SPDX-License-Identifier: Apache-2.0
#include "liaison/query/account.h"

#include "liaison/query/rounds.h"

#include <stdio.h>

#define MODULE "DISTRIBUTED-QUERY"

/* Names that no group has take no series: a client could use up all of them. */
static void find_groups(struct work *work)
{
    const struct world *world = executor_world(work->executor);
    work->known = arena_array(work->arena, bool, work->group_count);
    for (size_t i = 0; i < work->group_count; i++) {
        work->known[i] = world != NULL && world->catalog != NULL &&
                         catalog_group(world->catalog, work->groups[i].name) != NULL;
    }
}

static void label(const struct work *work, size_t group, char *to, size_t size)
{
    const struct slice name = work->known[group] ? work->groups[group].name : slice_str("_other");
    (void)snprintf(to, size, "%.*s", SLICE_ARG(name));
}

static void count(const struct work *work, struct metrics *metrics, enum metric metric,
                  int64_t amount)
{
    for (size_t i = 0; i < work->group_count; i++) {
        char group[128];
        label(work, i, group, sizeof group);
        const char *labels[] = {group, "measure", work->ops->method};
        metrics_add(metrics_series(metrics, metric, labels), amount);
    }
}

/* One without labels; the lock is not taken for nothing. */
static void count_plain(struct metrics *metrics, enum metric metric, size_t amount)
{
    const char *no_labels[1] = {NULL};
    if (amount > 0) {
        metrics_add(metrics_series(metrics, metric, no_labels), (int64_t)amount);
    }
}

static void count_incomplete(const struct work *work, struct metrics *metrics)
{
    for (size_t i = 0; i < work->group_count; i++) {
        char group[128];
        label(work, i, group, sizeof group);
        const char *labels[] = {group};
        metrics_add(metrics_series(metrics, METRIC_INCOMPLETE, labels), 1);
    }
}

static void count_error(const struct work *work, struct metrics *metrics, const struct error *err)
{
    count(work, metrics, METRIC_ERR, 1);
    if (err->code == ERROR_RESOURCE_EXHAUSTED) {
        metrics_refused(metrics, work->crowded ? REFUSED_PROCESS_MEMORY : REFUSED_QUERY_MEMORY);
    }
}

static void count_frames(const struct work *work, struct metrics *metrics)
{
    static const char *const versions[] = {"3", "4"};
    for (size_t i = 0; i < 2; i++) {
        if (work->frames[i] > 0) {
            metrics_add(metrics_series(metrics, METRIC_FRAMES, &versions[i]),
                        (int64_t)work->frames[i]);
        }
    }
}

static void log_if_slow(const struct work *work, struct log *log, const struct account *account)
{
    int64_t limit = work->options->dst_slow_query;
    if (limit <= 0 || account->took <= (uint64_t)limit || work->trace) {
        return;
    }
    log_warn(log, MODULE,
             "%s; latency=%.3f measure=%s group=%.*s resp_count=%zu peak_bytes=%zu slices=%zu "
             "slices_in_flight=%zu",
             work->ops->slow, (double)account->took / 1e6, work->name,
             SLICE_ARG(work->groups[0].name), work->result_count, account->peak, work->slices,
             work->rounds->widest + 1);
}

/* For whoever looks for one; the client is told, and faults of clients would flood a log. */
static void log_failure(const struct work *work, struct log *log, const struct account *account)
{
    const struct slice group = work->group_count == 0 ? slice_str("") : work->groups[0].name;
    log_debug(log, MODULE, "query failed; latency=%.3f measure=%s group=%.*s code=%s error=%s",
              (double)account->took / 1e6, work->name, SLICE_ARG(group),
              error_code_name(account->err->code), account->err->text);
}

void account_begin(struct work *work, const struct executor_setup *setup)
{
    find_groups(work);
    count(work, setup->metrics, METRIC_STARTED, 1);
}

void account_end(const struct work *work, const struct executor_setup *setup,
                 const struct account *account)
{
    count(work, setup->metrics, METRIC_FINISHED, 1);
    count(work, setup->metrics, METRIC_LATENCY, (int64_t)account->took);
    if (account->incomplete) {
        count_incomplete(work, setup->metrics);
    }
    count_frames(work, setup->metrics);
    count_plain(setup->metrics, METRIC_SLICES, work->slices);
    count_plain(setup->metrics, METRIC_SLICES_AHEAD, work->slices_ahead);
    count_plain(setup->metrics, METRIC_SLICES_IN_VAIN, work->rounds->in_vain);
    count_plain(setup->metrics, METRIC_BAD_TEXTS, work->bad_texts);
    if (account->err != NULL) {
        count_error(work, setup->metrics, account->err);
        log_failure(work, setup->log, account);
    } else {
        log_if_slow(work, setup->log, account);
    }
}
