// SPDX-License-Identifier: Apache-2.0
/*
 * Any client before the server side of HTTP/2 and gRPC: the input draws what the client does turn
 * by turn, and when and how calls are answered. Each call is told of in order and its end once; a
 * message is complete; when the client has left and the server is closed nothing is held.
 */
#include "liaison/container_of.h"
#include "liaison/http2/server.h"
#include "tests/fuzz/drawn_peer.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

#define CALLS_MAX 64

struct attack {
    struct draw draw;
    struct drawn_peer peer;
    struct loop *loop;
    struct charge charge;
    struct server *server;
    struct loop_task turn;
    size_t steps;
    bool leaving;                      /* the client has, and the server will see it */
    struct exchange *calls[CALLS_MAX]; /* borrow; that are going on */
    size_t count;
};

static void forget(struct attack *attack, struct exchange *exchange)
{
    for (size_t i = 0; i < attack->count; i++) {
        if (attack->calls[i] == exchange) {
            attack->calls[i] = attack->calls[--attack->count];
            return;
        }
    }
    assert(!"a call that is going on");
}

/* What a user does with a call */

static void send_some(struct attack *attack, struct exchange *exchange, bool last)
{
    static const size_t sizes[] = {0, 1, 100, 16384, 65531, 300000};
    const size_t size = sizes[draw_below(&attack->draw, sizeof sizes / sizeof *sizes)];
    struct chain chain;
    chain_init(&chain, draw_once_in(&attack->draw, 2) ? NULL : &attack->charge);
    memset(chain_reserve(&chain, size + 1), 'a', size + 1);
    chain_commit(&chain, size);
    if (last) {
        exchange_respond(exchange, &chain);
    } else {
        exchange_send(exchange, &chain);
    }
    chain_fini(&chain);
}

static void act(struct attack *attack, struct exchange *exchange)
{
    struct error status;
    switch (draw_below(&attack->draw, 8)) {
    case 0:
        exchange_trailer(exchange, "x-some", "thing");
        break;
    case 1:
        exchange_hold_input(exchange, draw_once_in(&attack->draw, 2));
        break;
    case 2:
        if (exchange_unsent(exchange) < (1 << 20)) {
            send_some(attack, exchange, false);
        }
        break;
    case 3:
        error_set(&status, (enum error_code)draw_below(&attack->draw, 17), "why\n not");
        exchange_finish(exchange, &status);
        forget(attack, exchange);
        break;
    case 4:
        send_some(attack, exchange, true);
        forget(attack, exchange);
        break;
    default:
        break;
    }
}

/* What the server tells */

static void on_open(void *owner, struct exchange *exchange, const struct exchange_head *head)
{
    struct attack *attack = owner;
    assert(head->path.len > 0 && head->path.ptr[0] == '/');
    assert(attack->count < CALLS_MAX);
    attack->calls[attack->count++] = exchange;
    exchange_set_user(exchange, attack);
    (void)exchange_metadata(exchange, "x-trace-bin");
    if (draw_once_in(&attack->draw, 2)) {
        exchange_expect_unary(exchange);
    }
    if (draw_once_in(&attack->draw, 8)) {
        act(attack, exchange);
    }
}

static void on_message(void *owner, struct exchange *exchange, struct msg *msg)
{
    assert(exchange_user(exchange) == owner && msg_state(msg) == MSG_READY);
    msg_release(&msg);
    act(owner, exchange);
}

static void on_half_close(void *owner, struct exchange *exchange)
{
    assert(exchange_user(exchange) == owner);
    act(owner, exchange);
}

static void on_gone(void *owner, struct exchange *exchange, const struct error *why)
{
    assert(exchange_user(exchange) == owner && why->code != ERROR_NONE && why->text[0] != '\0');
    forget(owner, exchange);
}

static bool admit(void *owner, size_t declared, struct slice head, struct error *err)
{
    struct attack *attack = owner;
    (void)head;
    return declared < 10000 || !draw_once_in(&attack->draw, 2) ||
           error_set(err, ERROR_RESOURCE_EXHAUSTED, "%zu bytes", declared);
}

/* Turns */

static void leave(struct attack *attack)
{
    drawn_peer_fini(&attack->peer);
    attack->leaving = true;
    if (server_live(attack->server).connections == 0) {
        server_close(&attack->server);
        loop_stop(attack->loop);
    }
}

static void on_turn(struct loop_task *task)
{
    struct attack *attack = container_of(task, struct attack, turn);
    if (attack->steps-- > 1 && attack->peer.fd >= 0) {
        drawn_peer_step(&attack->peer);
        if (attack->count > 0 && draw_once_in(&attack->draw, 4)) {
            act(attack, attack->calls[draw_below(&attack->draw, attack->count)]);
        }
        if (draw_once_in(&attack->draw, 128)) {
            server_drain(attack->server, NULL);
        }
    } else if (draw_once_in(&attack->draw, 16) && !attack->leaving) {
        server_close(&attack->server); /* with all that is going on */
        loop_stop(attack->loop);
        return;
    } else {
        attack->steps = 1;
        leave(attack);
    }
    if (attack->server != NULL) {
        loop_defer(attack->loop, &attack->turn);
    }
}

static int dial(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert(fd >= 0);
    const int failed = connect(fd, (const struct sockaddr *)&address, sizeof address);
    assert(failed == 0);
    const int made = evutil_make_socket_nonblocking(fd);
    assert(made == 0);
    return fd;
}

static void open_server(struct attack *attack)
{
    static const struct server_events events = {
        .on_open = on_open,
        .on_message = on_message,
        .on_half_close = on_half_close,
        .on_gone = on_gone,
        .admit = admit,
    };
    const struct server_options options = {
        .host = "127.0.0.1",
        .max_message_bytes = 20000,
        .max_concurrent_streams = 16,
        .stall_timeout_ms = draw_once_in(&attack->draw, 4) ? 1 : 1000,
        .greeting_timeout_ms = draw_once_in(&attack->draw, 8) ? 1 : 1000,
        .charge = &attack->charge,
    };
    struct error err;
    attack->server = server_open(attack->loop, &options, &events, attack, &err);
    assert(attack->server != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct attack *attack = calloc(1, sizeof *attack);
    assert(attack != NULL);
    attack->draw = draw_begin(slice_of(bytes, len));
    attack->loop = loop_new("server");
    attack->steps = 1 + draw_byte(&attack->draw);
    attack->turn.run = on_turn;
    open_server(attack);
    drawn_peer_init(&attack->peer, &attack->draw, true, dial(server_port(attack->server)));
    loop_defer(attack->loop, &attack->turn);
    loop_run(attack->loop);
    loop_free(&attack->loop);
    drawn_peer_fini(&attack->peer);
    assert(attack->count == 0 && attack->charge.total == 0);
    free(attack);
    return 0;
}
