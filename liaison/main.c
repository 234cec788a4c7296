// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the options, starts the threads, waits for a signal, stops in the order in which a client
 * notices least.
 *
 *     main thread     the edge: clients, hand-over of queries
 *     control thread  discovery, schema registry, /metrics
 *     executors       queries, with connections of their own to the data nodes
 *
 * The port opens when the first catalog is there: before that no query could be answered.
 */
#include "liaison/admin.h"
#include "liaison/cluster/cluster.h"
#include "liaison/dump.h"
#include "liaison/edge/edge.h"
#include "liaison/nodes_page.h"
#include "liaison/slack.h"

#include <event2/event.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#define MODULE     "LIAISON"
#define PUBLISH_MS 500

#ifndef BYDB_VERSION
#define BYDB_VERSION "unknown"
#endif

static const int stop_signals[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP};
#define STOP_SIGNALS (sizeof stop_signals / sizeof *stop_signals)

enum phase {
    PHASE_STARTING, /* waits for the first catalog */
    PHASE_SERVING,  /* waits for a signal */
    PHASE_STOPPING, /* waits for --drain-delay, then for the clients, at most --grace */
};

struct liaison {
    struct options options;
    struct log *log;         /* own */
    struct metrics *metrics; /* own */
    struct loop *loop;       /* own: the edge's, run by the main thread */
    struct loop *control;    /* own */
    pthread_t control_thread;
    struct charge control_charge;
    size_t catalog_bytes;                /* charged; control thread only */
    struct metrics_shard *control_shard; /* borrow: metrics */
    struct loop_timer publish;           /* control */
    struct charge edge_charge;
    struct budget budget;
    struct cluster *cluster; /* own */
    struct admin *admin;     /* own */
    struct slack *slack;     /* own */
    size_t executor_count;
    struct executor **executors; /* own */
    struct edge *edge;           /* own; NULL while starting */
    struct event *signals[STOP_SIGNALS];
    struct loop_task first_world; /* control → main, once */
    bool has_world;               /* control thread only */
    struct loop_timer timer;      /* the drain delay, then the grace */
    enum phase phase;
    atomic_bool leaving; /* for the control thread: a signal has come */
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
    struct liaison *liaison = (struct liaison *)((char *)timer - offsetof(struct liaison, timer));
    log_warn(liaison->log, MODULE,
             "grace is over, ending the queries that still run; grace_ms=%llu",
             (unsigned long long)duration_ms(liaison->options.grace));
    loop_stop(liaison->loop);
}

static void drain(struct loop_timer *timer)
{
    struct liaison *liaison = (struct liaison *)((char *)timer - offsetof(struct liaison, timer));
    loop_timer_fini(timer);
    loop_timer_init(timer, liaison->loop, on_grace_over);
    loop_timer_start(timer, duration_ms(liaison->options.grace));
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
    atomic_store(&liaison->leaving, true);
    edge_set_serving(liaison->edge, false);
    loop_timer_init(&liaison->timer, liaison->loop, drain);
    loop_timer_start(&liaison->timer, duration_ms(liaison->options.drain_delay));
}

/* Starting */

/* {"grpc":N,"observability":N}, by rename, so that a reader sees all of it or nothing. */
static bool write_ports(const struct liaison *liaison, struct error *err)
{
    const char *path = liaison->options.ports_file;
    if (path[0] == '\0') {
        return true;
    }
    char temporary[4096];
    (void)snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    FILE *file = fopen(temporary, "w");
    bool written =
        file != NULL && fprintf(file, "{\"grpc\":%u,\"observability\":%u}\n",
                                edge_port(liaison->edge), admin_port(liaison->admin)) > 0;
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

static void on_first_world(struct loop_task *task)
{
    struct liaison *liaison =
        (struct liaison *)((char *)task - offsetof(struct liaison, first_world));
    if (liaison->phase != PHASE_STARTING) {
        return;
    }
    const struct edge_setup setup = {
        .loop = liaison->loop,
        .options = &liaison->options,
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
    liaison->phase = PHASE_SERVING;
    edge_set_serving(liaison->edge, true);
    log_info(liaison->log, MODULE, "Listening to; host=%s port=%u executors=%zu",
             liaison->options.grpc_host, edge_port(liaison->edge), liaison->executor_count);
}

/* What the control thread holds, told to the metrics. */
static void on_publish(struct loop_timer *timer)
{
    struct liaison *liaison = (struct liaison *)((char *)timer - offsetof(struct liaison, publish));
    metrics_charge(liaison->control_shard, &liaison->control_charge);
    loop_timer_start(timer, PUBLISH_MS);
}

static void charge_catalog(struct liaison *liaison, const struct world *world)
{
    const size_t bytes = world->catalog == NULL ? 0 : catalog_bytes(world->catalog);
    if (liaison->catalog_bytes == 0) {
        charge_add(&liaison->control_charge, CHARGE_CATALOG, 0);
    }
    charge_resize(&liaison->control_charge, CHARGE_CATALOG, liaison->catalog_bytes, bytes);
    liaison->catalog_bytes = bytes;
}

static void on_world(void *owner, struct world *world)
{
    struct liaison *liaison = owner;
    for (size_t i = 0; i < liaison->executor_count; i++) {
        executor_set_world(liaison->executors[i], world_retain(world));
    }
    charge_catalog(liaison, world);
    world_release(&world);
    if (!liaison->has_world) {
        liaison->has_world = true;
        liaison->first_world.run = on_first_world;
        loop_post(liaison->loop, &liaison->first_world);
    }
}

static bool is_ready(void *owner, struct error *why)
{
    const struct liaison *liaison = owner;
    if (atomic_load(&liaison->leaving)) {
        return error_set(why, ERROR_UNAVAILABLE, "the liaison is shutting down");
    }
    return cluster_is_ready(liaison->cluster, why);
}

/* /nodes: the executors are asked, then the page is written. */

static void on_nodes_known(void *owner, const struct survey_result *result)
{
    struct admin_request *request = owner;
    char *page = nodes_page_text(result);
    admin_reply(&request, page);
    free(page);
}

static void on_nodes(void *owner, struct admin_request *request)
{
    struct liaison *liaison = owner;
    survey_begin(&(struct survey_setup){.loop = liaison->control,
                                        .executors = liaison->executors,
                                        .executor_count = liaison->executor_count,
                                        .on_done = on_nodes_known,
                                        .owner = request});
}

static bool open_cluster(struct liaison *liaison, struct error *err)
{
    const struct cluster_setup setup = {
        .loop = liaison->control,
        .options = &liaison->options,
        .log = liaison->log,
        .metrics = liaison->metrics,
        .charge = &liaison->control_charge,
        .on_world = on_world,
        .owner = liaison,
    };
    liaison->cluster = cluster_open(&setup, err);
    return liaison->cluster != NULL;
}

static bool open_admin(struct liaison *liaison, struct error *err)
{
    const struct admin_setup setup = {
        .loop = liaison->control,
        .address = liaison->options.observability_listener_addr,
        .metrics = liaison->metrics,
        .is_ready = is_ready,
        .on_nodes = on_nodes,
        .owner = liaison,
    };
    liaison->admin = admin_open(&setup, err);
    return liaison->admin != NULL;
}

static void open_executors(struct liaison *liaison)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    long wanted = liaison->options.executors > 0 ? liaison->options.executors : cores;
    liaison->executor_count = wanted > 0 ? (size_t)wanted : 1;
    liaison->executors = calloc(liaison->executor_count, sizeof(struct executor *));
    for (size_t i = 0; i < liaison->executor_count; i++) {
        const struct executor_setup setup = {
            .options = &liaison->options,
            .log = liaison->log,
            .metrics = liaison->metrics,
            .budget = &liaison->budget,
            .number = (unsigned)i,
        };
        liaison->executors[i] = executor_open(&setup);
    }
}

static void *run_control(void *owner)
{
    loop_run(owner);
    return NULL;
}

static void watch_signals(struct liaison *liaison)
{
    for (size_t i = 0; i < STOP_SIGNALS; i++) {
        liaison->signals[i] =
            evsignal_new(loop_base(liaison->loop), stop_signals[i], on_signal, liaison);
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
    budget_init(&liaison->budget, budget_limit(&liaison->options));
    liaison->control_charge.shared = &liaison->budget.held;
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
    liaison->control = loop_new("control");
    mask_signals(SIG_BLOCK);
    open_executors(liaison);
    if (!open_admin(liaison, err) || !open_cluster(liaison, err)) {
        return false;
    }
    liaison->slack = slack_open(liaison->control);
    liaison->control_shard = metrics_shard(liaison->metrics);
    loop_timer_init(&liaison->publish, liaison->control, on_publish);
    loop_timer_start(&liaison->publish, PUBLISH_MS);
    if (pthread_create(&liaison->control_thread, NULL, run_control, liaison->control) != 0) {
        return error_set(err, ERROR_INTERNAL, "cannot start the control thread");
    }
    watch_signals(liaison);
    mask_signals(SIG_UNBLOCK);
    return true;
}

/* The public side first, then the queries, then what the queries need. */
static void stop(struct liaison *liaison)
{
    if (liaison->control_thread != 0) {
        loop_stop(liaison->control);
        pthread_join(liaison->control_thread, NULL);
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
    cluster_close(&liaison->cluster);
    admin_close(&liaison->admin);
    slack_close(&liaison->slack);
    for (size_t i = 0; i < STOP_SIGNALS; i++) {
        if (liaison->signals[i] != NULL) {
            event_free(liaison->signals[i]);
        }
    }
    loop_timer_fini(&liaison->timer);
    if (liaison->control_shard != NULL) {
        loop_timer_fini(&liaison->publish);
    }
    loop_free(&liaison->control);
    loop_free(&liaison->loop);
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
    for (size_t i = 0; i < liaison->options.warnings.count; i++) {
        log_warn(liaison->log, MODULE, "%s", liaison->options.warnings.items[i]);
    }
    char *unread = options_unread_file(".");
    if (unread != NULL) {
        log_warn(liaison->log, MODULE,
                 "configuration files are not read, use flags or BYDB_ variables; file=%s", unread);
        free(unread);
    }
    log_info(liaison->log, MODULE, "starting; version=%s", BYDB_VERSION);
}

static int serve(struct liaison *liaison)
{
    struct error err;
    liaison->log = open_log(&liaison->options);
    log_start(liaison);
    if (start(liaison, &err)) {
        loop_run(liaison->loop);
    } else {
        log_error(liaison->log, MODULE, "cannot start; error=%s", err.text);
        liaison->exit_code = EXIT_FAILURE;
    }
    stop(liaison);
    log_free(&liaison->log);
    return liaison->exit_code;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "frame") == 0) {
        return dump_main(argc - 1, argv + 1);
    }
    const char *poison = getenv("BYDB_POISON_RELEASED");
    msg_poison_released(poison != NULL && strcmp(poison, "1") == 0);
    slack_tune();
    struct liaison liaison = {.phase = PHASE_STARTING};
    struct error err;
    int code = EX_USAGE;
    if (!options_read(&liaison.options, argc, argv, environ, &err)) {
        (void)fprintf(stderr, "bydb-liaison: %s\n", err.text);
    } else if (liaison.options.help_wanted) {
        char *help = options_help();
        (void)fputs(help, stdout);
        free(help);
        code = EXIT_SUCCESS;
    } else if (liaison.options.version_wanted) {
        (void)puts("bydb-liaison " BYDB_VERSION);
        code = EXIT_SUCCESS;
    } else {
        code = serve(&liaison);
    }
    options_fini(&liaison.options);
    return code;
}
