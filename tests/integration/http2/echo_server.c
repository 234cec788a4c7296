// SPDX-License-Identifier: Apache-2.0
/*
 * A small gRPC server over server.h for the integration tests: the path chooses what is answered.
 * Commands come by stdin, one a line: "live", "drain", "quit" (end of input too); what happens is
 * told on stdout.
 */
#include "liaison/container_of.h"
#include "liaison/http2/server.h"
#include "liaison/http2/tls.h"

#include <event2/event.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct echo {
    struct loop *loop;
    struct server *server;
    struct charge charge;
    struct event *commands;
};

/* One call. */
struct echo_call {
    struct echo *echo;
    struct exchange *exchange;
    struct loop_timer timer;
    size_t messages;
    size_t bytes;
    unsigned left;
    size_t size;
};

static void respond(struct echo_call *call, const void *ptr, size_t len)
{
    struct chain chain;
    chain_init(&chain, &call->echo->charge);
    chain_append(&chain, slice_of(ptr, len));
    exchange_respond(call->exchange, &chain);
}

static void call_free(void *object)
{
    struct echo_call *call = object;
    loop_timer_fini(&call->timer);
    free(call);
}

static void retire(struct echo_call *call)
{
    loop_timer_stop(&call->timer);
    loop_reap(call->echo->loop, call, call_free);
}

/* Blocks of 64 KB, as a response writer makes them. */
static void fill(struct chain *chain, size_t len)
{
    for (size_t at = 0; at < len;) {
        const size_t part = len - at < 65536 ? len - at : 65536;
        memset(chain_reserve(chain, part), (int)('a' + at / 65536 % 26), part);
        chain_commit(chain, part);
        at += part;
    }
}

static bool is_path(const struct echo_call *call, const char *method)
{
    char path[64];
    snprintf(path, sizeof path, "/test.Echo/%s", method);
    return slice_equal(exchange_head(call->exchange)->path, slice_str(path));
}

static void stream_some(struct echo_call *call)
{
    while (call->left > 0 && exchange_unsent(call->exchange) < (1 << 20)) {
        struct chain chain;
        chain_init(&chain, &call->echo->charge);
        fill(&chain, call->size);
        exchange_send(call->exchange, &chain);
        call->left--;
    }
    if (call->left > 0) {
        loop_timer_start(&call->timer, 1);
        return;
    }
    exchange_finish(call->exchange, NULL);
    retire(call);
}

static void on_timer(struct loop_timer *timer)
{
    struct echo_call *call = container_of(timer, struct echo_call, timer);
    if (is_path(call, "Stream")) {
        stream_some(call);
        return;
    }
    if (is_path(call, "Collect")) {
        exchange_hold_input(call->exchange, false);
        return;
    }
    respond(call, "slept", 5);
    retire(call);
}

static void on_open(void *owner, struct exchange *exchange, const struct exchange_head *head)
{
    (void)head;
    struct echo *echo = owner;
    struct echo_call *call = calloc(1, sizeof *call);
    call->echo = echo;
    call->exchange = exchange;
    loop_timer_init(&call->timer, echo->loop, on_timer);
    exchange_set_user(exchange, call);
    if (!is_path(call, "Bidi") && !is_path(call, "Collect")) {
        exchange_expect_unary(exchange);
    }
    if (is_path(call, "Collect") && exchange_metadata(exchange, "x-hold").ptr != NULL) {
        exchange_hold_input(exchange, true);
        loop_timer_start(&call->timer, 400);
    }
    if (is_path(call, "Refuse")) {
        struct error refused;
        error_set(&refused, ERROR_PERMISSION_DENIED, "not \"you\": 100 %% sure\n\xc3\xa9");
        exchange_trailer(exchange, "x-reason", "because");
        exchange_finish(exchange, &refused);
        retire(call);
    }
}

static void answer(struct echo_call *call, const char *text, struct slice body)
{
    struct error status;
    if (is_path(call, "Unary")) {
        respond(call, body.ptr, body.len);
    } else if (is_path(call, "Slow")) {
        loop_timer_start(&call->timer, strtoul(text, NULL, 10));
        return;
    } else if (is_path(call, "Never")) {
        return;
    } else if (is_path(call, "Big")) {
        struct chain chain;
        chain_init(&chain, &call->echo->charge);
        fill(&chain, strtoul(text, NULL, 10));
        exchange_respond(call->exchange, &chain);
    } else if (is_path(call, "Stream")) {
        char *end;
        call->left = (unsigned)strtoul(text, &end, 10);
        call->size = strtoul(end, NULL, 10);
        stream_some(call);
        return;
    } else if (is_path(call, "Fail")) {
        char *end;
        const unsigned long code = strtoul(text, &end, 10);
        error_set(&status, (enum error_code)code, "%s", end + (*end == ' '));
        exchange_finish(call->exchange, &status);
    } else if (is_path(call, "Metadata")) {
        const struct slice value = exchange_metadata(call->exchange, text);
        respond(call, value.ptr, value.len);
    } else {
        error_set(&status, ERROR_UNIMPLEMENTED, "unknown method %.*s",
                  SLICE_ARG(exchange_head(call->exchange)->path));
        exchange_finish(call->exchange, &status);
    }
    retire(call);
}

static void on_message(void *owner, struct exchange *exchange, struct msg *msg)
{
    (void)owner;
    struct echo_call *call = exchange_user(exchange);
    const struct slice body = msg_bytes(msg);
    call->messages++;
    call->bytes += body.len;
    if (is_path(call, "Bidi")) {
        struct chain chain;
        chain_init(&chain, &call->echo->charge);
        chain_append(&chain, body);
        exchange_send(exchange, &chain);
    } else if (!is_path(call, "Collect")) {
        char text[256];
        snprintf(text, sizeof text, "%.*s", SLICE_ARG(body));
        answer(call, text, body);
    }
    msg_release(&msg);
}

static void on_half_close(void *owner, struct exchange *exchange)
{
    (void)owner;
    struct echo_call *call = exchange_user(exchange);
    if (is_path(call, "Bidi")) {
        exchange_finish(exchange, NULL);
        retire(call);
    } else if (is_path(call, "Collect")) {
        char text[64];
        const int len = snprintf(text, sizeof text, "%zu %zu", call->messages, call->bytes);
        respond(call, text, (size_t)len);
        retire(call);
    }
}

static void on_gone(void *owner, struct exchange *exchange, const struct error *why)
{
    (void)owner;
    printf("gone %s %s\n", error_code_name(why->code), why->text);
    retire(exchange_user(exchange));
}

static void on_disconnect(void *owner, const char *peer, const struct error *why)
{
    (void)owner;
    (void)peer;
    printf("disconnect %s\n", why->text);
}

static void on_drained(void *owner)
{
    (void)owner;
    printf("drained\n");
}

static void on_command(evutil_socket_t fd, short what, void *owner)
{
    (void)what;
    struct echo *echo = owner;
    char line[64];
    const ssize_t n = read(fd, line, sizeof line - 1);
    if (n <= 0 || line[0] == 'q') {
        server_close(&echo->server);
        loop_stop(echo->loop);
    } else if (line[0] == 'l') {
        const struct server_live live = server_live(echo->server);
        printf("live %zu %zu %zu %zu\n", live.connections, live.exchanges, echo->charge.total,
               echo->charge.peak);
    } else if (line[0] == 'd') {
        server_drain(echo->server, on_drained);
    }
}

static size_t number(int argc, char **argv, const char *name, size_t otherwise)
{
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            return strtoul(argv[i + 1], NULL, 10);
        }
    }
    return otherwise;
}

static const char *text(int argc, char **argv, const char *name)
{
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            return argv[i + 1];
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct echo echo = {.loop = loop_new("echo")};
    struct error err;
    struct ssl_ctx_st *tls = NULL;
    if (text(argc, argv, "--cert") != NULL) {
        tls = tls_server_new(text(argc, argv, "--cert"), text(argc, argv, "--key"), &err);
        if (tls == NULL) {
            printf("failed %s\n", err.text);
            loop_free(&echo.loop);
            return 1;
        }
    }
    const struct server_options options = {
        .host = "",
        .port = (uint16_t)number(argc, argv, "--port", 0),
        .reuse_port = number(argc, argv, "--reuse", 0) != 0,
        .tls = tls,
        .max_message_bytes = number(argc, argv, "--max", 16 << 20),
        .max_concurrent_streams = (uint32_t)number(argc, argv, "--streams", 1000),
        .stall_timeout_ms = number(argc, argv, "--stall", 30000),
        .greeting_timeout_ms = number(argc, argv, "--greeting", 0),
        .charge = &echo.charge,
    };
    const struct server_events events = {
        .on_open = on_open,
        .on_message = on_message,
        .on_half_close = on_half_close,
        .on_gone = on_gone,
        .on_disconnect = on_disconnect,
    };
    echo.server = server_open(echo.loop, &options, &events, &echo, &err);
    if (echo.server == NULL) {
        printf("failed %s\n", err.text);
        loop_free(&echo.loop);
        return 1;
    }
    printf("port %u\n", server_port(echo.server));
    echo.commands = event_new(loop_base(echo.loop), 0, EV_READ | EV_PERSIST, on_command, &echo);
    event_add(echo.commands, NULL);
    loop_run(echo.loop);
    event_free(echo.commands);
    loop_free(&echo.loop);
    tls_free(&tls);
    printf("end %zu\n", echo.charge.total);
    return 0;
}
