// SPDX-License-Identifier: Apache-2.0
/*
 *     main thread     the edge: clients, hand-over of queries
 *     control thread  discovery, schema registry, /metrics
 *     executors       queries, with connections of their own to the data nodes
 *
 * The port opens when the first catalog is there: before that no query could be answered.
 */
#include "liaison/serve.h"

#include "liaison/container_of.h"
#include "liaison/control.h"
#include "liaison/edge/edge.h"
#include "liaison/machine.h"
#include "liaison/own.h"
#include "liaison/spent_turns.h"

#include <event2/event.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define MODULE "LIAISON"

static const int stop_signals[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP};
#define STOP_SIGNALS (sizeof stop_signals / sizeof *stop_signals)

enum phase {
    PHASE_STARTING, /* waits for the first catalog */
    PHASE_SERVING,  /* waits for a signal */
    PHASE_STOPPING, /* waits for --drain-delay, then for the clients, at most --grace */
};

struct liaison {
    const struct options *options; /* borrow */
    struct log *log;               /* own */
    struct metrics *metrics;       /* own */
    struct loop *loop;             /* own: the edge's, run by the main thread */
    struct charge edge_charge;
    struct spent_turns edge_spent;
    struct budget budget;
    size_t executor_count;
    struct executor **executors; /* own */
    struct control *control;     /* own */
    struct edge *edge;           /* own; NULL while starting */
    struct event *signals[STOP_SIGNALS];
    struct loop_timer timer; /* the drain delay, then the grace */
    enum phase phase;
    int exit_code;
};

/* Stopping */

static void on_drained(void *owner)
{
    struct liaison *liaison = owner;
    log_info(liaison->log, MODULE, "stopped gracefully");
    loop_stop(liaison->loop);
}

static void on_grace_over(struct loop_timer *timer)
{
    struct liaison *liaison = container_of(timer, struct liaison, timer);
    log_warn(liaison->log, MODULE,
             "grace is over, ending the queries that still run; grace_ms=%llu",
             (unsigned long long)duration_ms(liaison->options->grace));
    loop_stop(liaison->loop);
}

static void drain(struct loop_timer *timer)
{
    struct liaison *liaison = container_of(timer, struct liaison, timer);
    loop_timer_fini(timer);
    loop_timer_init(timer, liaison->loop, on_grace_over);
    loop_timer_start(timer, duration_ms(liaison->options->grace));
    edge_drain(liaison->edge, on_drained, liaison);
}

static void on_signal(evutil_socket_t number, short what, void *owner)
{
    (void)what;
    struct liaison *liaison = owner;
    log_info(liaison->log, MODULE, "stopping; signal=%s", sigabbrev_np((int)number));
    if (liaison->phase != PHASE_SERVING) {
        loop_stop(liaison->loop); /* nothing to finish yet, or the second signal: at once */
        return;
    }
    liaison->phase = PHASE_STOPPING;
    control_leave(liaison->control);
    edge_set_serving(liaison->edge, false);
    loop_timer_init(&liaison->timer, liaison->loop, drain);
    loop_timer_start(&liaison->timer, duration_ms(liaison->options->drain_delay));
}

/* Starting */

/* {"grpc":N,"observability":N}, by rename, so that a reader sees all of it or nothing. */
static bool write_ports(const struct liaison *liaison, struct error *err)
{
    const char *path = liaison->options->ports_file;
    if (path[0] == '\0') {
        return true;
    }
    char temporary[4096];
    (void)snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    FILE *file = fopen(temporary, "w");
    bool written =
        file != NULL && fprintf(file, "{\"grpc\":%u,\"observability\":%u}\n",
                                edge_port(liaison->edge), control_port(liaison->control)) > 0;
    if (file != NULL && fclose(file) != 0) {
        written = false;
    }
    if (!written || rename(temporary, path) != 0) {
        return error_set(err, ERROR_INTERNAL, "cannot write --ports-file=%s: %s", path,
                         strerror(errno));
    }
    return true;
}

static void give_up(struct liaison *liaison, const struct error *err)
{
    log_error(liaison->log, MODULE, "cannot start; error=%s", err->text);
    liaison->exit_code = EXIT_FAILURE;
    loop_stop(liaison->loop);
}

/* What an idle process holds already leaves no room for a query. */
static void warn_of_small_budget(const struct liaison *liaison)
{
    const struct budget *budget = &liaison->budget;
    const size_t held = budget_held(budget);
    if (budget->limit != SIZE_MAX && held + 2 * BUDGET_SHARE > budget->pool) {
        log_warn(liaison->log, MODULE,
                 "the budget is too small for queries, set a larger one (--allowed-bytes, "
                 "--allowed-percent); budget_bytes=%zu held_before_any=%zu",
                 budget->limit, held);
    }
}

static void on_first_world(void *owner)
{
    struct liaison *liaison = owner;
    if (liaison->phase != PHASE_STARTING) {
        return;
    }
    const struct edge_setup setup = {
        .loop = liaison->loop,
        .options = liaison->options,
        .log = liaison->log,
        .metrics = liaison->metrics,
        .budget = &liaison->budget,
        .charge = &liaison->edge_charge,
        .executors = liaison->executors,
        .executor_count = liaison->executor_count,
    };
    struct error err;
    liaison->edge = edge_open(&setup, &err);
    if (liaison->edge == NULL || !write_ports(liaison, &err)) {
        give_up(liaison, &err);
        return;
    }
    warn_of_small_budget(liaison);
    liaison->phase = PHASE_SERVING;
    edge_set_serving(liaison->edge, true);
    log_info(liaison->log, MODULE, "Listening to; host=%s port=%u executors=%zu",
             liaison->options->grpc_host, edge_port(liaison->edge), liaison->executor_count);
}

static void open_executors(struct liaison *liaison)
{
    const int64_t wanted = liaison->options->executors;
    liaison->executor_count =
        wanted > 0 ? (size_t)wanted : machine_group_cores("", machine_cores());
    liaison->executors = own_array(liaison->executor_count, sizeof(struct executor *));
    for (size_t i = 0; i < liaison->executor_count; i++) {
        const struct executor_setup setup = {
            .options = liaison->options,
            .log = liaison->log,
            .metrics = liaison->metrics,
            .budget = &liaison->budget,
            .number = (unsigned)i,
        };
        liaison->executors[i] = executor_open(&setup);
    }
}

static bool open_control(struct liaison *liaison, struct error *err)
{
    const struct control_setup setup = {
        .options = liaison->options,
        .log = liaison->log,
        .metrics = liaison->metrics,
        .budget = &liaison->budget,
        .executors = liaison->executors,
        .executor_count = liaison->executor_count,
        .first_world_loop = liaison->loop,
        .on_first_world = on_first_world,
        .owner = liaison,
    };
    liaison->control = control_open(&setup, err);
    return liaison->control != NULL;
}

static void watch_signals(struct liaison *liaison)
{
    for (size_t i = 0; i < STOP_SIGNALS; i++) {
        liaison->signals[i] = own_checked(
            evsignal_new(loop_base(liaison->loop), stop_signals[i], on_signal, liaison));
        event_add(liaison->signals[i], NULL);
    }
}

/* Threads inherit the mask: only the main thread is to see the signals. */
static void mask_signals(int how)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < STOP_SIGNALS; i++) {
        sigaddset(&set, stop_signals[i]);
    }
    pthread_sigmask(how, &set, NULL);
}

static void open_budget(struct liaison *liaison)
{
    const char *no_labels[1] = {NULL};
    budget_init(&liaison->budget, budget_limit(liaison->options));
    liaison->edge_charge.shared = &liaison->budget.held;
    if (liaison->budget.limit != SIZE_MAX) {
        metrics_set(metrics_series(liaison->metrics, METRIC_BUDGET, no_labels),
                    (int64_t)liaison->budget.limit);
    }
}

static bool start(struct liaison *liaison, struct error *err)
{
    liaison->metrics = metrics_new();
    open_budget(liaison);
    liaison->loop = loop_new("edge");
    spent_turns_begin(&liaison->edge_spent, &liaison->edge_charge, liaison->loop);
    mask_signals(SIG_BLOCK);
    open_executors(liaison);
    if (!open_control(liaison, err) || !control_start(liaison->control, err)) {
        return false;
    }
    watch_signals(liaison);
    mask_signals(SIG_UNBLOCK);
    return true;
}

static void forget_signals(struct liaison *liaison)
{
    for (size_t i = 0; i < STOP_SIGNALS; i++) {
        if (liaison->signals[i] != NULL) {
            event_free(liaison->signals[i]);
        }
    }
}

/* The public side first, then the queries, then what the queries need. */
static void stop(struct liaison *liaison)
{
    liaison->phase = PHASE_STOPPING; /* a first world that is on its way opens no port */
    if (liaison->control != NULL) {
        control_stop(liaison->control);
    }
    if (liaison->edge != NULL) {
        edge_end(liaison->edge);
    }
    for (size_t i = 0; i < liaison->executor_count; i++) {
        executor_close(&liaison->executors[i]);
    }
    if (liaison->edge != NULL) {
        loop_stop(liaison->loop); /* once more: what the executors ended is answered */
        loop_run(liaison->loop);
    }
    edge_close(&liaison->edge);
    mask_signals(SIG_BLOCK); /* one more of them changes nothing about the exit status */
    forget_signals(liaison);
    loop_timer_fini(&liaison->timer);
    loop_free(&liaison->loop);
    spent_turns_end(&liaison->edge_spent);
    control_close(&liaison->control);
    budget_fini(&liaison->budget);
    metrics_free(&liaison->metrics);
    free(liaison->executors);
}

static struct log *open_log(const struct options *options)
{
    bool dev = strcmp(options->logging_env, "dev") == 0;
    struct log *log = log_new(STDERR_FILENO, dev ? LOG_CONSOLE : LOG_JSON,
                              (enum log_level)options->logging_level);
    for (size_t i = 0; i < options->logging_modules.count && i < options->logging_levels.count;
         i++) {
        enum log_level level;
        if (log_level_read(options->logging_levels.items[i], &level)) {
            log_module_level(log, options->logging_modules.items[i], level);
        }
    }
    return log;
}

static void log_start(struct liaison *liaison)
{
    for (size_t i = 0; i < liaison->options->warnings.count; i++) {
        log_warn(liaison->log, MODULE, "%s", liaison->options->warnings.items[i]);
    }
    char *unread = options_unread_file(".");
    if (unread != NULL) {
        log_warn(liaison->log, MODULE,
                 "configuration files are not read, use flags or BYDB_ variables; file=%s", unread);
        free(unread);
    }
    log_info(liaison->log, MODULE, "starting; version=%s", BYDB_VERSION);
}

int serve(const struct options *options)
{
    struct liaison liaison = {
        .options = options, .log = open_log(options), .phase = PHASE_STARTING};
    struct error err;
    log_start(&liaison);
    if (start(&liaison, &err)) {
        loop_run(liaison.loop);
    } else {
        log_error(liaison.log, MODULE, "cannot start; error=%s", err.text);
        liaison.exit_code = EXIT_FAILURE;
    }
    stop(&liaison);
    log_free(&liaison.log);
    return liaison.exit_code;
}
