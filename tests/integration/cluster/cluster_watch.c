// SPDX-License-Identifier: Apache-2.0
/*
 * The control plane and its nodes without the rest of the liaison: takes the liaison's flags,
 * prints one JSON line for each world, node state and answer, obeys JSON lines on standard input.
 *
 *   {"send": 1, "node": "d1", "topic": "...", "group": "g", "body": "hex", "timeout_ms": 500}
 *   {"cancel": 1}   {"close": "d1"}   {"live": true}   {"ready": true}   end of input: stop
 *
 * Everything runs on one loop, as in an executor.
 */
#include "liaison/cluster/cluster.h"
#include "liaison/cluster/node.h"
#include "liaison/own.h"

#include <event2/event.h>
#include <jansson.h>

#include <stdio.h>
#include <sys/queue.h>
#include <unistd.h>

struct watcher;

struct peer {
    LIST_ENTRY(peer) entry;
    struct watcher *watcher; /* borrow */
    struct node *node;       /* own */
};

struct request {
    LIST_ENTRY(request) entry;
    struct watcher *watcher; /* borrow */
    struct node_call *call;  /* own, until it is answered */
    int number;
    size_t most; /* bytes that are admitted; 0 = any */
};

struct watcher {
    struct options options;
    struct loop *loop;
    struct log *log;
    struct metrics *metrics;
    struct charge charge;
    struct charge query_charge;
    struct link_live live;
    struct cluster *cluster;
    LIST_HEAD(, peer) peers;
    LIST_HEAD(, request) requests;
    struct event *input;
    char line[1 << 20];
    size_t len;
};

static void print(json_t *object /* take */)
{
    char *text = json_dumps(object, JSON_COMPACT);
    (void)printf("%s\n", text);
    (void)fflush(stdout);
    free(text);
    json_decref(object);
}

/* Nodes */

static void on_node_state(void *owner, struct node *node)
{
    static const char *const states[] = {"down", "probing", "up"};
    (void)owner;
    print(json_pack("{s:s,s:s,s:s,s:b}", "node", node_name(node), "state", states[node_state(node)],
                    "why", node_last_error(node), "was_down", node_down_at(node) != 0));
}

static struct peer *find_peer(struct watcher *watcher, const char *name)
{
    struct peer *peer;
    LIST_FOREACH (peer, &watcher->peers, entry) {
        if (strcmp(node_name(peer->node), name) == 0) {
            return peer;
        }
    }
    return NULL;
}

static void close_peer(struct peer *peer)
{
    LIST_REMOVE(peer, entry);
    node_close(&peer->node);
    free(peer);
}

static void open_peer(struct watcher *watcher, const struct member *member)
{
    struct peer *peer = own_array(1, sizeof *peer);
    peer->watcher = watcher;
    peer->node = node_open(&(struct node_setup){.loop = watcher->loop,
                                                .options = &watcher->options,
                                                .log = watcher->log,
                                                .metrics = watcher->metrics,
                                                .charge = &watcher->charge,
                                                .live = &watcher->live,
                                                .on_state = on_node_state,
                                                .owner = watcher},
                           member);
    LIST_INSERT_HEAD(&watcher->peers, peer, entry);
}

static bool can_ask(const struct member *member)
{
    return member != NULL && member->reached && member->left_at == 0;
}

static void follow(struct watcher *watcher, const struct world *world)
{
    struct peer *next;
    for (struct peer *peer = LIST_FIRST(&watcher->peers); peer != NULL; peer = next) {
        const struct member *member = world_member(world, node_name(peer->node));
        next = LIST_NEXT(peer, entry);
        if (!can_ask(member) || strcmp(member->address, node_address(peer->node)) != 0) {
            close_peer(peer);
        }
    }
    for (size_t i = 0; i < world->member_count; i++) {
        if (can_ask(&world->members[i]) && find_peer(watcher, world->members[i].name) == NULL) {
            open_peer(watcher, &world->members[i]);
        }
    }
}

/* Worlds */

static json_t *members_of(const struct world *world)
{
    json_t *members = json_array();
    for (size_t i = 0; i < world->member_count; i++) {
        const struct member *member = &world->members[i];
        json_t *labels = json_object();
        for (size_t k = 0; k < member->label_count; k++) {
            json_object_set_new(labels, member->labels[k].key,
                                json_string(member->labels[k].value));
        }
        json_array_append_new(members,
                              json_pack("{s:s,s:s,s:b,s:b,s:b,s:o}", "name", member->name,
                                        "address", member->address, "reached", member->reached,
                                        "left", member->left_at != 0, "created",
                                        member->created_at != 0, "labels", labels));
    }
    return members;
}

static json_t *groups_of(const struct catalog *catalog)
{
    json_t *groups = json_object();
    for (size_t i = 0; i < catalog_count(catalog, SCHEMA_GROUP); i++) {
        const void *at = catalog_at(catalog, SCHEMA_GROUP, i);
        const Banyandb__Common__V1__Group *group = at;
        json_object_set_new(groups, group->metadata->name,
                            json_integer(group->metadata->mod_revision));
    }
    return groups;
}

/* "group/name": [revision, number of fields] */
static json_t *measures_of(const struct catalog *catalog)
{
    json_t *measures = json_object();
    for (size_t i = 0; i < catalog_count(catalog, SCHEMA_MEASURE); i++) {
        char name[512];
        const void *at = catalog_at(catalog, SCHEMA_MEASURE, i);
        const Banyandb__Database__V1__Measure *measure = at;
        (void)snprintf(name, sizeof name, "%s/%s", measure->metadata->group,
                       measure->metadata->name);
        json_object_set_new(measures, name,
                            json_pack("[I,i]", (json_int_t)measure->metadata->mod_revision,
                                      (int)measure->n_fields));
    }
    return measures;
}

static void on_world(void *owner, struct world *world)
{
    struct watcher *watcher = owner;
    print(json_pack("{s:o,s:o,s:o,s:[i,i,i]}", "world", members_of(world), "groups",
                    groups_of(world->catalog), "measures", measures_of(world->catalog), "rules",
                    (int)catalog_count(world->catalog, SCHEMA_INDEX_RULE),
                    (int)catalog_count(world->catalog, SCHEMA_INDEX_RULE_BINDING),
                    (int)catalog_count(world->catalog, SCHEMA_TOPN)));
    follow(watcher, world);
    world_release(&world);
}

/* Requests */

static void on_answer(void *owner, struct msg *msg, const struct error *why)
{
    struct request *request = owner;
    json_t *answer = json_pack("{s:i}", "answer", request->number);
    if (why == NULL) {
        json_object_set_new(answer, "bytes", json_integer((json_int_t)msg_bytes(msg).len));
    } else {
        json_object_set_new(answer, "code", json_string(error_code_name(why->code)));
        json_object_set_new(answer, "text", json_string(why->text));
    }
    msg_release(&msg);
    LIST_REMOVE(request, entry);
    print(answer);
    free(request);
}

static bool admit(void *owner, size_t declared, struct slice head, struct error *err)
{
    const struct request *request = owner;
    (void)head;
    return request->most == 0 || declared <= request->most ||
           error_set(err, ERROR_RESOURCE_EXHAUSTED, "%zu bytes, admitted are %zu", declared,
                     request->most);
}

static size_t from_hex(const char *text, uint8_t *bytes)
{
    size_t len = 0;
    unsigned byte;
    for (; sscanf(text + 2 * len, "%2x", &byte) == 1; len++) {
        bytes[len] = (uint8_t)byte;
    }
    return len;
}

static json_int_t number_of(const json_t *command, const char *key)
{
    return json_integer_value(json_object_get(command, key));
}

static const char *text_of(const json_t *command, const char *key)
{
    const char *text = json_string_value(json_object_get(command, key));
    return text == NULL ? "" : text;
}

static void send_request(struct watcher *watcher, const json_t *command)
{
    const struct peer *peer = find_peer(watcher, text_of(command, "node"));
    const char *hex = text_of(command, "body");
    uint8_t *body = own_array(strlen(hex) / 2 + 1, 1);
    struct request *request = own_array(1, sizeof *request);
    if (peer == NULL) {
        print(json_pack("{s:I,s:s}", "answer", number_of(command, "send"), "text", "no such node"));
        free(request);
        free(body);
        return;
    }
    request->watcher = watcher;
    request->number = (int)number_of(command, "send");
    request->most = (size_t)number_of(command, "most");
    LIST_INSERT_HEAD(&watcher->requests, request, entry);
    const uint64_t timeout_ms = (uint64_t)number_of(command, "timeout_ms");
    const struct node_call_options options = {
        .topic = text_of(command, "topic"),
        .body = slice_of(body, from_hex(hex, body)),
        .group = text_of(command, "group"),
        .sender_node = watcher->options.node_name,
        .deadline = loop_now(watcher->loop) + timeout_ms * 1000000,
        .charge = &watcher->query_charge,
        .admit = admit,
    };
    request->call = node_send(peer->node, &options, on_answer, request);
    free(body);
}

static void cancel(struct watcher *watcher, json_int_t number)
{
    struct request *request;
    LIST_FOREACH (request, &watcher->requests, entry) {
        if (request->number == number) {
            LIST_REMOVE(request, entry);
            node_call_cancel(&request->call);
            free(request);
            print(json_pack("{s:I}", "cancelled", number));
            return;
        }
    }
}

/* Commands */

static void print_live(struct watcher *watcher)
{
    struct peer *peer;
    size_t calls = 0;
    size_t links = 0;
    LIST_FOREACH (peer, &watcher->peers, entry) {
        calls += node_calls(peer->node);
        links += node_links(peer->node);
    }
    print(json_pack(
        "{s:{s:I,s:I,s:I,s:I,s:I}}", "live", "node_calls", (json_int_t)calls, "node_links",
        (json_int_t)links, "links", (json_int_t)watcher->live.links, "calls",
        (json_int_t)watcher->live.calls, "message_bytes",
        (json_int_t)(watcher->query_charge.total + watcher->charge.bytes[CHARGE_MESSAGE])));
}

static void print_ready(const struct watcher *watcher)
{
    struct error why = {0};
    const bool ready = cluster_is_ready(watcher->cluster, &why);
    print(json_pack("{s:b,s:s}", "ready", ready, "why", why.text));
}

static void obey(struct watcher *watcher, const char *line)
{
    json_t *command = json_loads(line, 0, NULL);
    if (json_object_get(command, "send") != NULL) {
        send_request(watcher, command);
    } else if (json_object_get(command, "cancel") != NULL) {
        cancel(watcher, number_of(command, "cancel"));
    } else if (json_object_get(command, "close") != NULL) {
        close_peer(find_peer(watcher, text_of(command, "close")));
    } else if (json_object_get(command, "live") != NULL) {
        print_live(watcher);
    } else if (json_object_get(command, "ready") != NULL) {
        print_ready(watcher);
    }
    json_decref(command);
}

static void on_input(evutil_socket_t fd, short what, void *owner)
{
    struct watcher *watcher = owner;
    (void)what;
    const ssize_t len =
        read(fd, watcher->line + watcher->len, sizeof watcher->line - watcher->len - 1);
    if (len <= 0) {
        loop_stop(watcher->loop);
        return;
    }
    watcher->len += (size_t)len;
    char *end;
    while ((end = memchr(watcher->line, '\n', watcher->len)) != NULL) {
        *end = '\0';
        obey(watcher, watcher->line);
        watcher->len -= (size_t)(end + 1 - watcher->line);
        memmove(watcher->line, end + 1, watcher->len);
    }
}

/* Life */

static void stop(struct watcher *watcher)
{
    while (!LIST_EMPTY(&watcher->requests)) {
        cancel(watcher, LIST_FIRST(&watcher->requests)->number);
    }
    while (!LIST_EMPTY(&watcher->peers)) {
        close_peer(LIST_FIRST(&watcher->peers));
    }
    cluster_close(&watcher->cluster);
    if (watcher->input != NULL) {
        event_free(watcher->input);
    }
    loop_free(&watcher->loop);
    log_free(&watcher->log);
    metrics_free(&watcher->metrics);
    options_fini(&watcher->options);
    print(json_pack("{s:I,s:I,s:I,s:I}", "end", (json_int_t)watcher->charge.total, "query",
                    (json_int_t)watcher->query_charge.total, "links",
                    (json_int_t)watcher->live.links, "calls", (json_int_t)watcher->live.calls));
}

static bool start(struct watcher *watcher, struct error *err)
{
    watcher->cluster = cluster_open(&(struct cluster_setup){.loop = watcher->loop,
                                                            .options = &watcher->options,
                                                            .log = watcher->log,
                                                            .metrics = watcher->metrics,
                                                            .charge = &watcher->charge,
                                                            .live = &watcher->live,
                                                            .on_world = on_world,
                                                            .owner = watcher},
                                    err);
    if (watcher->cluster == NULL) {
        return false;
    }
    watcher->input =
        event_new(loop_base(watcher->loop), STDIN_FILENO, EV_READ | EV_PERSIST, on_input, watcher);
    event_add(watcher->input, NULL);
    return true;
}

int main(int argc, char **argv, char **envp)
{
    static struct watcher watcher;
    struct error err;
    int status = EXIT_SUCCESS;
    watcher.loop = loop_new("watch");
    watcher.log = log_new(STDERR_FILENO, LOG_JSON, LOG_DEBUG);
    watcher.metrics = metrics_new();
    if (options_read(&watcher.options, argc, argv, envp, &err) && start(&watcher, &err)) {
        loop_run(watcher.loop);
    } else {
        (void)fprintf(stderr, "cannot start: %s\n", err.text);
        status = EXIT_FAILURE;
    }
    stop(&watcher);
    return status;
}
