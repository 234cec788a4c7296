// SPDX-License-Identifier: Apache-2.0
#include "liaison/control.h"

#include "liaison/admin.h"
#include "liaison/cluster/cluster.h"
#include "liaison/container_of.h"
#include "liaison/heap_trim.h"
#include "liaison/nodes_page.h"
#include "liaison/own.h"

#include <pthread.h>
#include <stdatomic.h>

#define PUBLISH_MS 500

struct control {
    struct control_setup setup;
    struct loop *loop; /* own */
    pthread_t thread;
    bool is_running;
    atomic_bool leaving;
    struct charge charge;
    size_t catalog_bytes;        /* charged */
    struct metrics_shard *shard; /* borrow: metrics */
    struct loop_timer publish;
    struct cluster *cluster; /* own */
    struct admin *admin;     /* own */
    struct heap_trim *trim;  /* own */
    bool has_world;
    struct loop_task first_world;
};

/* The cluster */

static void on_first_world(struct loop_task *task)
{
    struct control *control = container_of(task, struct control, first_world);
    control->setup.on_first_world(control->setup.owner);
}

static void charge_catalog(struct control *control, const struct world *world)
{
    const size_t bytes = world->catalog == NULL ? 0 : catalog_bytes(world->catalog);
    if (control->catalog_bytes == 0) {
        charge_add(&control->charge, CHARGE_CATALOG, 0);
    }
    charge_resize(&control->charge, CHARGE_CATALOG, control->catalog_bytes, bytes);
    control->catalog_bytes = bytes;
}

static void on_world(void *owner, struct world *world)
{
    struct control *control = owner;
    for (size_t i = 0; i < control->setup.executor_count; i++) {
        executor_set_world(control->setup.executors[i], world_retain(world));
    }
    charge_catalog(control, world);
    world_release(&world);
    if (!control->has_world) {
        control->has_world = true;
        control->first_world.run = on_first_world;
        loop_post(control->setup.first_world_loop, &control->first_world);
    }
}

static bool open_cluster(struct control *control, struct error *err)
{
    const struct cluster_setup setup = {
        .loop = control->loop,
        .options = control->setup.options,
        .log = control->setup.log,
        .metrics = control->setup.metrics,
        .charge = &control->charge,
        .on_world = on_world,
        .owner = control,
    };
    control->cluster = cluster_open(&setup, err);
    return control->cluster != NULL;
}

/* The port for operators */

static bool is_ready(void *owner, struct error *why)
{
    const struct control *control = owner;
    if (atomic_load(&control->leaving)) {
        return error_set(why, ERROR_UNAVAILABLE, "the liaison is shutting down");
    }
    return cluster_is_ready(control->cluster, why);
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
    struct control *control = owner;
    survey_begin(&(struct survey_setup){.loop = control->loop,
                                        .executors = control->setup.executors,
                                        .executor_count = control->setup.executor_count,
                                        .on_done = on_nodes_known,
                                        .owner = request});
}

static bool open_admin(struct control *control, struct error *err)
{
    const struct admin_setup setup = {
        .loop = control->loop,
        .address = control->setup.options->observability_listener_addr,
        .metrics = control->setup.metrics,
        .is_ready = is_ready,
        .on_nodes = on_nodes,
        .owner = control,
    };
    control->admin = admin_open(&setup, err);
    return control->admin != NULL;
}

unsigned control_port(const struct control *control)
{
    return admin_port(control->admin);
}

/* The thread */

/* What it holds, told to the metrics. */
static void on_publish(struct loop_timer *timer)
{
    struct control *control = container_of(timer, struct control, publish);
    metrics_charge(control->shard, &control->charge);
    loop_timer_start(timer, PUBLISH_MS);
}

static void open_trim(struct control *control)
{
    control->trim = heap_trim_open(control->loop);
    heap_trim_watch(control->trim, control->setup.first_world_loop);
    for (size_t i = 0; i < control->setup.executor_count; i++) {
        heap_trim_watch(control->trim, executor_loop(control->setup.executors[i]));
    }
}

struct control *control_open(const struct control_setup *setup, struct error *err)
{
    struct control *control = own_array(1, sizeof *control);
    control->setup = *setup;
    control->charge.shared = &setup->budget->held;
    control->loop = loop_new("control");
    control->shard = metrics_shard(setup->metrics);
    open_trim(control);
    loop_timer_init(&control->publish, control->loop, on_publish);
    loop_timer_start(&control->publish, PUBLISH_MS);
    if (!open_admin(control, err) || !open_cluster(control, err)) {
        control_close(&control);
    }
    return control;
}

static void *run(void *owner)
{
    loop_run(owner);
    return NULL;
}

bool control_start(struct control *control, struct error *err)
{
    control->is_running = pthread_create(&control->thread, NULL, run, control->loop) == 0;
    return control->is_running || error_set(err, ERROR_INTERNAL, "cannot start the control thread");
}

void control_leave(struct control *control)
{
    atomic_store(&control->leaving, true);
}

void control_stop(struct control *control)
{
    if (control->is_running) {
        loop_stop(control->loop);
        pthread_join(control->thread, NULL);
        control->is_running = false;
    }
}

void control_close(struct control **control)
{
    struct control *closed = *control;
    *control = NULL;
    if (closed == NULL) {
        return;
    }
    cluster_close(&closed->cluster);
    admin_close(&closed->admin);
    heap_trim_close(&closed->trim);
    loop_timer_fini(&closed->publish);
    loop_free(&closed->loop);
    free(closed);
}
