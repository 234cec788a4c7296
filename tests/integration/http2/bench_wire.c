// SPDX-License-Identifier: Apache-2.0
/*
 * What the HTTP/2 layer and TLS hold in both directions, against what is charged for it: clients
 * and their server share one loop and one charge, and all is looked at after each turn of it.
 *
 *     idle        200 connections on which nothing goes on
 *     small       5,000 calls at once on one connection, unanswered and then answered
 *     answers     16 answers of 4 MB on four connections, kept until the last one has come
 *     requests    16 requests of 4 MB likewise
 *
 * A run before these is not looked at: what is built for good belongs to an idle process, such as
 * OpenSSL's tables of algorithms and libevent's place for each timer that ever ran at once.
 */
#include "liaison/container_of.h"
#include "liaison/http2/link.h"
#include "liaison/http2/server.h"
#include "liaison/http2/tls.h"
#include "liaison/http2/tls_memory.h"
#include "tests/bench/held.h"
#include "tests/integration/http2/certificate.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LINKS_MAX 200
#define CALLS_MAX 5000
#define QUIET_MS  100 /* handshakes are over, what they needed has been given back */
#define PART      ((size_t)250000)

#define DEADLINE_NS UINT64_C(100000000000)

struct workload {
    const char *name;
    size_t links;
    size_t calls; /* of all links */
    size_t request;
    size_t answer;
    bool tls;
};

static const struct workload workloads[] = {
    {"idle", LINKS_MAX, 0, 0, 0, false},     {"idle, TLS", LINKS_MAX, 0, 0, 0, true},
    {"small", 1, CALLS_MAX, 50, 100, false}, {"small, TLS", 1, CALLS_MAX, 50, 100, true},
    {"answers", 4, 16, 50, 4000000, false},  {"answers, TLS", 4, 16, 50, 4000000, true},
    {"requests", 4, 16, 4000000, 10, false}, {"requests, TLS", 4, 16, 4000000, 10, true},
};

struct bench {
    struct loop *loop;             /* own */
    struct ssl_ctx_st *server_tls; /* own */
    struct ssl_ctx_st *client_tls; /* own */
    const struct workload *work;   /* borrow */
    struct held held;
    struct server *server;         /* own */
    struct link *links[LINKS_MAX]; /* own */
    size_t ready;                  /* links */
    struct loop_timer quiet;
    struct loop_task asking;
    struct exchange *asked[CALLS_MAX]; /* borrow */
    struct msg *requests[CALLS_MAX];   /* own */
    struct msg *answers[CALLS_MAX];    /* own */
    size_t request_count;
    size_t answer_count;
    size_t ended; /* calls */
};

static void look(void *owner, uint64_t nanoseconds)
{
    (void)nanoseconds;
    struct bench *bench = owner;
    held_look(&bench->held);
}

/* ----------------------------------------------------------------- server */

static void on_open(void *owner, struct exchange *exchange, const struct exchange_head *head)
{
    (void)owner;
    (void)head;
    exchange_expect_unary(exchange);
}

static void answer(struct bench *bench, size_t at)
{
    struct chain chain;
    chain_init(&chain, &bench->held.charge);
    for (size_t left = bench->work->answer; left > 0;) {
        const size_t part = left < PART ? left : PART;
        memset(chain_reserve(&chain, part), 'a', part);
        chain_commit(&chain, part);
        left -= part;
    }
    msg_release(&bench->requests[at]);
    exchange_respond(bench->asked[at], &chain);
}

/* Nobody is answered before all have asked. */
static void on_request(void *owner, struct exchange *exchange, struct msg *msg)
{
    struct bench *bench = owner;
    bench->asked[bench->request_count] = exchange;
    bench->requests[bench->request_count++] = msg;
    if (bench->request_count == bench->work->calls) {
        held_look(&bench->held);
        for (size_t i = 0; i < bench->work->calls; i++) {
            answer(bench, i);
        }
        held_look(&bench->held);
    }
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

static uint16_t open_server(struct bench *bench)
{
    struct error err;
    const struct server_options options = {
        .host = "127.0.0.1",
        .tls = bench->work->tls ? bench->server_tls : NULL,
        .max_message_bytes = 64 << 20,
        .max_concurrent_streams = CALLS_MAX,
        .charge = &bench->held.charge,
    };
    const struct server_events events = {
        .on_open = on_open,
        .on_message = on_request,
        .on_half_close = on_half_close,
        .on_gone = on_gone,
    };
    bench->server = server_open(bench->loop, &options, &events, bench, &err);
    assert(bench->server != NULL);
    return server_port(bench->server);
}

/* ---------------------------------------------------------------- clients */

static void on_answer(void *owner, struct call *call, struct msg *msg)
{
    (void)call;
    struct bench *bench = owner;
    assert(msg_bytes(msg).len == bench->work->answer);
    bench->answers[bench->answer_count++] = msg;
}

static void on_end(void *owner, struct call *call, const struct error *status)
{
    (void)call;
    struct bench *bench = owner;
    if (status->code != ERROR_NONE) {
        fprintf(stderr, "a call has failed: %s\n", status->text);
        exit(EXIT_FAILURE);
    }
    if (++bench->ended == bench->work->calls) {
        held_look(&bench->held);
        loop_stop(bench->loop);
    }
}

static void ask(struct loop_task *task)
{
    struct bench *bench = container_of(task, struct bench, asking);
    const struct workload *work = bench->work;
    const struct call_options options = {
        .path = "/bench.Bench/Call",
        .deadline = loop_now(bench->loop) + DEADLINE_NS,
        .charge = &bench->held.charge,
    };
    const struct call_events events = {.on_message = on_answer, .on_end = on_end};
    uint8_t *request = calloc(1, work->request);
    for (size_t i = 0; i < work->calls; i++) {
        struct call *call = call_open(bench->links[i % work->links], &options, &events, bench);
        call_send(call, slice_of(request, work->request), true);
    }
    free(request);
    held_look(&bench->held);
}

static void on_quiet(struct loop_timer *timer)
{
    struct bench *bench = container_of(timer, struct bench, quiet);
    held_look(&bench->held);
    if (bench->work->calls == 0) {
        loop_stop(bench->loop);
    } else {
        loop_defer(bench->loop, &bench->asking);
    }
}

static void on_state(void *owner, struct link *link, enum link_state state, const struct error *why)
{
    (void)link;
    struct bench *bench = owner;
    if (state != LINK_READY) {
        fprintf(stderr, "a connection has failed: %s\n", why->text);
        exit(EXIT_FAILURE);
    }
    if (++bench->ready == bench->work->links) {
        loop_timer_start(&bench->quiet, QUIET_MS);
    }
}

static void open_links(struct bench *bench, uint16_t port)
{
    char address[32];
    (void)snprintf(address, sizeof address, "127.0.0.1:%u", port);
    const struct link_options options = {
        .address = address,
        .tls = bench->work->tls ? bench->client_tls : NULL,
        .connect_timeout_ms = 60000,
        .max_message_bytes = 64 << 20,
        .charge = &bench->held.charge,
    };
    const struct link_events events = {.on_state = on_state};
    for (size_t i = 0; i < bench->work->links; i++) {
        bench->links[i] = link_open(bench->loop, &options, &events, bench);
    }
}

/* ------------------------------------------------------------------- runs */

/* What the end of a connection does is done when the loop is run once more. */
static void close_all(struct bench *bench)
{
    for (size_t i = 0; i < bench->work->links; i++) {
        link_close(&bench->links[i]);
    }
    server_close(&bench->server);
    for (size_t i = 0; i < bench->answer_count; i++) {
        msg_release(&bench->answers[i]);
    }
    loop_stop(bench->loop);
    loop_run(bench->loop);
}

static void run(struct bench *bench, const struct workload *work)
{
    bench->work = work;
    bench->ready = bench->request_count = bench->answer_count = bench->ended = 0;
    open_links(bench, open_server(bench));
    loop_run(bench->loop);
    close_all(bench);
}

int main(void)
{
    static struct bench bench;
    struct error err;
    char file[64];
    const bool counts = tls_memory_count();
    assert(counts);
    certificate_write(file, sizeof file);
    bench.server_tls = tls_server_new(file, file, &err);
    bench.client_tls = tls_client_new(file, &err);
    unlink(file);
    assert(bench.server_tls != NULL && bench.client_tls != NULL);
    bench.loop = loop_new("bench");
    bench.asking.run = ask;
    loop_timer_init(&bench.quiet, bench.loop, on_quiet);
    loop_watch(bench.loop, look, &bench);
    run(&bench, &(struct workload){"first", 1, CALLS_MAX, 50, 50, true});
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        held_begin(&bench.held);
        run(&bench, &workloads[i]);
        printf("%-14s at most %6.1f MB charged", workloads[i].name,
               (double)bench.held.charge.peak / 1e6);
        held_tell(&bench.held);
    }
    loop_timer_fini(&bench.quiet);
    loop_free(&bench.loop);
    tls_free(&bench.server_tls);
    tls_free(&bench.client_tls);
    return held_verdict();
}
