// SPDX-License-Identifier: Apache-2.0
/*
 * What the HTTP/2 layer costs on each side: a server and a link on a loop of their own each, over
 * loopback; CPU time of the two threads, beside that of two threads which send each other the same
 * bytes bare. Prints ms for each call and for each MB, the best of three runs, and how many times
 * the bare bytes' that is. What is held is bench_wire's.
 */
#include "liaison/http2/link.h"
#include "liaison/http2/server.h"
#include "tests/integration/http2/bare.h"

#include <assert.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct load {
    const char *name;
    size_t request;
    size_t answer;
    unsigned in_flight;
    unsigned calls;
};

static const struct load loads[] = {
    {"small calls, 1 in flight", 50, 100, 1, 20000},
    {"small calls, 16 in flight", 50, 100, 16, 100000},
    {"small calls, 100 in flight", 50, 100, 100, 200000},
    {"answers of 1 MB, 4 in flight", 50, 1000000, 4, 1000},
    {"answers of 16 MB, 2 in flight", 50, 16000000, 2, 60},
    {"requests of 1 MB, 4 in flight", 1000000, 10, 4, 500},
};

/* The server's thread */

struct side {
    struct loop *loop;
    pthread_t thread;
    struct server *server;
    struct link *link;
    const struct load *load;
    unsigned begun;
    unsigned ended;
    uint8_t *request;
    double cpu;
};

static double cpu_seconds(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

/* The answer's bytes are not touched: what making them costs is not ours. */
static void on_request(void *owner, struct exchange *exchange, struct msg *msg)
{
    const struct side *side = owner;
    struct chain chain;
    chain_init(&chain, NULL);
    for (size_t left = side->load->answer; left > 0;) {
        const size_t part = left < 250000 ? left : 250000;
        chain_reserve(&chain, part);
        chain_commit(&chain, part);
        left -= part;
    }
    msg_release(&msg);
    exchange_respond(exchange, &chain);
}

static void on_open(void *owner, struct exchange *exchange, const struct exchange_head *head)
{
    (void)owner;
    (void)head;
    exchange_expect_unary(exchange);
}

static void on_half_close(void *owner, struct exchange *exchange)
{
    (void)owner;
    (void)exchange;
}

static void on_gone(void *owner, struct exchange *exchange, const struct error *why)
{
    (void)owner;
    (void)exchange;
    (void)why;
}

static void *serve(void *owner)
{
    struct side *side = owner;
    loop_run(side->loop);
    side->cpu = cpu_seconds();
    return NULL;
}

/* The client's thread */

static void begin_call(struct side *side);

static void on_answer(void *owner, struct call *call, struct msg *msg)
{
    (void)call;
    const struct side *side = owner;
    assert(msg_bytes(msg).len == side->load->answer);
    msg_release(&msg);
}

static void on_end(void *owner, struct call *call, const struct error *status)
{
    (void)call;
    struct side *side = owner;
    assert(status->code == ERROR_NONE);
    side->ended++;
    if (side->begun < side->load->calls) {
        begin_call(side);
    } else if (side->ended == side->load->calls) {
        loop_stop(side->loop);
    }
}

static void begin_call(struct side *side)
{
    const struct call_options options = {
        .path = "/bench.Bench/Call",
        .deadline = loop_now(side->loop) + 60000000000u,
    };
    const struct call_events events = {.on_message = on_answer, .on_end = on_end};
    struct call *call = call_open(side->link, &options, &events, side);
    call_send(call, slice_of(side->request, side->load->request), true);
    side->begun++;
}

static void *ask(void *owner)
{
    struct side *side = owner;
    for (unsigned i = 0; i < side->load->in_flight; i++) {
        begin_call(side);
    }
    loop_run(side->loop);
    side->cpu = cpu_seconds();
    return NULL;
}

static void run(const struct load *load, double *client_out, double *server_out)
{
    struct error err;
    char address[32];
    struct side server = {.loop = loop_new("server"), .load = load};
    struct side client = {.loop = loop_new("client"), .load = load};
    const struct server_options server_options = {
        .host = "127.0.0.1", .max_message_bytes = 64 << 20, .max_concurrent_streams = 1000};
    const struct server_events events = {
        .on_open = on_open,
        .on_message = on_request,
        .on_half_close = on_half_close,
        .on_gone = on_gone,
    };
    server.server = server_open(server.loop, &server_options, &events, &server, &err);
    assert(server.server != NULL);
    snprintf(address, sizeof address, "127.0.0.1:%u", server_port(server.server));
    const struct link_options link_options = {.address = address, .max_message_bytes = 64 << 20};
    const struct link_events link_events = {.on_state = NULL};
    client.link = link_open(client.loop, &link_options, &link_events, &client);
    client.request = calloc(1, load->request);
    pthread_create(&server.thread, NULL, serve, &server);
    pthread_create(&client.thread, NULL, ask, &client);
    pthread_join(client.thread, NULL);
    loop_stop(server.loop);
    pthread_join(server.thread, NULL);
    link_close(&client.link);
    server_close(&server.server);
    loop_free(&client.loop);
    loop_free(&server.loop);
    free(client.request);
    *client_out = client.cpu * 1e3;
    *server_out = server.cpu * 1e3;
}

struct cost {
    double client; /* ms */
    double server;
};

static void keep_best(struct cost *best, double client, double server)
{
    best->client = client < best->client ? client : best->client;
    best->server = server < best->server ? server : best->server;
}

static void bench(const struct load *load)
{
    const double megabytes = (double)(load->request + load->answer) / 1e6 * load->calls;
    const struct bare_load bytes = {load->request, load->answer, load->in_flight, load->calls};
    struct cost ours = {1e9, 1e9};
    struct cost bare = {1e9, 1e9};
    for (int round = 0; round < 3; round++) {
        double client;
        double server;
        run(load, &client, &server);
        keep_best(&ours, client, server);
        bare_run(&bytes, &client, &server);
        keep_best(&bare, client * 1e3, server * 1e3);
    }
    printf("%-30s client %7.4f ms, server %7.4f ms per call", load->name, ours.client / load->calls,
           ours.server / load->calls);
    if (megabytes / load->calls > 0.5) {
        printf("; client %6.3f ms, server %6.3f ms per MB", ours.client / megabytes,
               ours.server / megabytes);
    }
    printf("; %.2f and %.2f times the bare bytes\n", ours.client / bare.client,
           ours.server / bare.server);
}

int main(void)
{
    /* memory is kept, as the liaison keeps it: fresh pages cost more than all the rest */
    mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the most that glibc takes */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++) {
        bench(&loads[i]);
    }
    return 0;
}
