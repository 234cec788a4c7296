// SPDX-License-Identifier: Apache-2.0
/*
 * Any node before the client side of HTTP/2 and gRPC: the input draws what the node does turn by
 * turn, and what becomes of the calls that it is asked. Each call ends once, unless it was
 * cancelled; a message is complete; when the link is closed nothing is held.
 */
#include "liaison/container_of.h"
#include "liaison/http2/link.h"
#include "tests/fuzz/drawn_peer.h"

#include <event2/util.h>

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

#define CALLS_MAX 32

struct attack {
    struct draw draw;
    struct drawn_peer peer;
    struct loop *loop;
    struct charge charge;
    struct link_live live;
    struct link *link;
    struct link *spare; /* to where nobody answers; NULL: not needed yet */
    char address[32];
    int listening;
    bool accepted;
    struct loop_task turn;
    size_t steps;
    struct call *calls[CALLS_MAX]; /* borrow; that are going on */
    size_t count;
};

static size_t place_of(const struct attack *attack, const struct call *call)
{
    size_t i = 0;
    while (i < attack->count && attack->calls[i] != call) {
        i++;
    }
    assert(i < attack->count); /* it is going on */
    return i;
}

/* What is done with calls */

static void on_message(void *owner, struct call *call, struct msg *msg)
{
    const struct attack *attack = owner;
    (void)place_of(attack, call);
    assert(msg_state(msg) == MSG_READY);
    (void)call_header(call, "content-type");
    msg_release(&msg);
}

static struct link *open_link(struct attack *attack);
static struct call_options options_of(struct attack *attack);

/* What the node has not looked at may go elsewhere. */
static bool resend(struct attack *attack, struct call *call)
{
    if (!call_is_unsent(call) || draw_once_in(&attack->draw, 2)) {
        return false;
    }
    if (attack->spare == NULL) {
        attack->spare = open_link(attack);
    }
    const struct call_options options = options_of(attack);
    attack->calls[place_of(attack, call)] = call_resend(call, attack->spare, &options);
    return true;
}

static void on_end(void *owner, struct call *call, const struct error *status)
{
    struct attack *attack = owner;
    assert(status->code == ERROR_NONE || status->text[0] != '\0' || call_status_is_theirs(call));
    (void)call_trailer(call, "banyandb-incomplete");
    if (!resend(attack, call)) {
        attack->calls[place_of(attack, call)] = attack->calls[attack->count - 1];
        attack->count--;
    }
}

static bool admit(void *owner, size_t declared, struct slice head, struct error *err)
{
    struct attack *attack = owner;
    (void)head;
    return declared < 10000 || !draw_once_in(&attack->draw, 2) ||
           error_set(err, ERROR_RESOURCE_EXHAUSTED, "%zu bytes", declared);
}

static void send_some(struct attack *attack, struct call *call)
{
    static const uint8_t body[100000];
    static const size_t sizes[] = {0, 1, 100, 16384, 100000};
    const size_t size = sizes[draw_below(&attack->draw, sizeof sizes / sizeof *sizes)];
    if (call_unsent(call) < (1 << 20)) {
        call_send(call, slice_of(body, size), draw_once_in(&attack->draw, 2));
    }
}

static struct call_options options_of(struct attack *attack)
{
    return (struct call_options){
        .path = "/test.Echo/Echo",
        .deadline = draw_once_in(&attack->draw, 16) ? loop_now(attack->loop) + 1 : 0,
        .charge = &attack->charge,
        .admit = draw_once_in(&attack->draw, 2) ? admit : NULL,
    };
}

static void ask(struct attack *attack)
{
    static const struct call_events events = {on_message, on_end};
    const struct call_options options = options_of(attack);
    if (attack->count == CALLS_MAX) {
        return;
    }
    struct call *call = call_open(attack->link, &options, &events, attack);
    attack->calls[attack->count++] = call;
    if (!draw_once_in(&attack->draw, 8)) {
        static const uint8_t body[300];
        call_send(call, slice_of(body, draw_byte(&attack->draw)), true);
    } else {
        send_some(attack, call);
    }
}

static void act(struct attack *attack)
{
    if (attack->count == 0) {
        return;
    }
    const size_t i = draw_below(&attack->draw, attack->count);
    switch (draw_below(&attack->draw, 4)) {
    case 0: {
        struct call *cancelled = attack->calls[i];
        attack->calls[i] = attack->calls[--attack->count];
        call_cancel(&cancelled);
        break;
    }
    case 1:
        call_hold_input(attack->calls[i], draw_once_in(&attack->draw, 2));
        break;
    case 2:
        call_half_close(attack->calls[i]);
        break;
    default:
        break;
    }
}

/* Turns */

static void accept_first(struct attack *attack)
{
    if (attack->accepted) {
        return;
    }
    const int fd = accept4(attack->listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        attack->accepted = true;
        drawn_peer_init(&attack->peer, &attack->draw, false, fd);
    }
}

static void on_turn(struct loop_task *task)
{
    struct attack *attack = container_of(task, struct attack, turn);
    if (attack->steps-- == 0) {
        struct error why;
        error_set(&why, ERROR_UNAVAILABLE, "enough");
        if (draw_once_in(&attack->draw, 2)) {
            link_close(&attack->link);
        } else {
            link_fail(&attack->link, &why);
        }
        if (attack->spare != NULL) {
            link_close(&attack->spare);
        }
        loop_stop(attack->loop);
        return;
    }
    accept_first(attack);
    drawn_peer_step(&attack->peer);
    if (draw_once_in(&attack->draw, 8)) {
        ask(attack);
    }
    if (draw_once_in(&attack->draw, 32)) {
        act(attack);
    }
    loop_defer(attack->loop, &attack->turn);
}

/* The kernel chooses the port. */
static int listen_here(char *address, size_t size)
{
    struct sockaddr_in here = {.sin_family = AF_INET};
    socklen_t len = sizeof here;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert(fd >= 0);
    const bool good = bind(fd, (const struct sockaddr *)&here, sizeof here) == 0 &&
                      listen(fd, 1) == 0 && getsockname(fd, (struct sockaddr *)&here, &len) == 0;
    assert(good);
    (void)snprintf(address, size, "127.0.0.1:%u", ntohs(here.sin_port));
    return fd;
}

static struct link *open_link(struct attack *attack)
{
    const struct link_options options = {
        .address = attack->address,
        .connect_timeout_ms = draw_once_in(&attack->draw, 16) ? 1 : 0,
        .max_message_bytes = 20000,
        .window_bytes = draw_once_in(&attack->draw, 2) ? 0 : 65535,
        .charge = &attack->charge,
        .live = &attack->live,
    };
    static const struct link_events events = {NULL};
    return link_open(attack->loop, &options, &events, attack);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct attack *attack = calloc(1, sizeof *attack);
    assert(attack != NULL);
    attack->draw = draw_begin(slice_of(bytes, len));
    attack->loop = loop_new("link");
    attack->steps = 8 + (size_t)draw_byte(&attack->draw);
    attack->turn.run = on_turn;
    attack->peer.fd = -1;
    attack->listening = listen_here(attack->address, sizeof attack->address);
    attack->link = open_link(attack);
    ask(attack);
    loop_defer(attack->loop, &attack->turn);
    loop_run(attack->loop);
    loop_free(&attack->loop);
    drawn_peer_fini(&attack->peer);
    close(attack->listening);
    assert(attack->count == 0 && attack->live.links == 0 && attack->live.calls == 0);
    assert(attack->charge.total == 0);
    free(attack);
    return 0;
}
