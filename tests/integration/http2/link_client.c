// SPDX-License-Identifier: Apache-2.0
/*
 * A gRPC client over link.h for the integration tests: reads commands from stdin, one a line, and
 * tells every event on stdout.
 *
 *     link L ADDRESS [CA file]      call C L PATH DEADLINE_MS [KEY VALUE]     send C TEXT
 *     fill C BYTES                  half C      cancel C     close L     live     quit
 *     tie C L      the end of this call closes that link
 */
#include "liaison/http2/link.h"
#include "liaison/http2/tls.h"

#include <event2/event.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NAMES 256

struct client;

/* One for each name of a link or call. */
struct place {
    struct client *client;
    unsigned name;
    struct link *link;
    struct call *call;
    struct place *tied; /* its link closes when the call ends; NULL: none */
};

struct client {
    struct loop *loop;
    struct event *commands;
    struct charge charge;
    struct link_live live;
    struct ssl_ctx_st *tls;
    struct place places[NAMES];
    size_t max;
    char line[65536];
    size_t len;
};

static const char *const states[] = {"CONNECTING", "READY", "DRAINING", "CLOSED"};

static void on_state(void *owner, struct link *link, enum link_state state, const struct error *why)
{
    (void)link;
    const struct place *place = owner;
    printf("state %u %s %s\n", place->name, states[state], why == NULL ? "" : why->text);
}

static uint32_t sum(struct slice bytes)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < bytes.len; i++) {
        hash = (hash ^ bytes.ptr[i]) * 16777619u;
    }
    return hash;
}

static void on_message(void *owner, struct call *call, struct msg *msg)
{
    (void)call;
    const struct place *place = owner;
    const struct slice bytes = msg_bytes(msg);
    printf("message %u %zu %08" PRIx32 " %.*s\n", place->name, bytes.len, sum(bytes),
           bytes.len < 40 ? (int)bytes.len : 0, (const char *)bytes.ptr);
    msg_release(&msg);
}

static void on_end(void *owner, struct call *call, const struct error *status)
{
    struct place *place = owner;
    const struct slice reason = call_trailer(call, "x-reason");
    place->call = NULL;
    printf("end %u %s [%.*s] %s\n", place->name, error_code_name(status->code), SLICE_ARG(reason),
           status->text);
    if (place->tied != NULL) {
        link_close(&place->tied->link);
    }
}

static void open_link(struct client *client, struct place *place, const char *rest)
{
    char address[256] = "";
    char ca[256] = "";
    struct error err;
    sscanf(rest, "%255s %255s", address, ca);
    if (ca[0] != '\0' && client->tls == NULL) {
        client->tls = tls_client_new(ca, &err);
        if (client->tls == NULL) {
            printf("failed %s\n", err.text);
            return;
        }
    }
    const struct link_options options = {
        .address = address,
        .tls = ca[0] == '\0' ? NULL : client->tls,
        .tls_switch = "--its-switch",
        .connect_timeout_ms = 2000,
        .max_message_bytes = client->max,
        .charge = &client->charge,
        .live = &client->live,
    };
    const struct link_events events = {.on_state = on_state};
    place->link = link_open(client->loop, &options, &events, place);
}

static void open_call(struct client *client, struct place *place, const char *rest)
{
    unsigned link = 0;
    char path[256] = "";
    unsigned long ms = 0;
    char key[64] = "";
    char value[256] = "";
    sscanf(rest, "%u %255s %lu %63s %255s", &link, path, &ms, key, value);
    struct call_options options = {
        .path = path,
        .deadline = ms == 0 ? 0 : loop_now(client->loop) + ms * 1000000,
        .charge = &client->charge,
    };
    if (key[0] != '\0') {
        options.metadata[0] = key;
        options.metadata[1] = value;
    }
    const struct call_events events = {on_message, on_end};
    place->call = call_open(client->places[link % NAMES].link, &options, &events, place);
}

static void fill(struct place *place, size_t len)
{
    uint8_t *bytes = malloc(len + 1);
    memset(bytes, 'f', len);
    call_send(place->call, slice_of(bytes, len), false);
    free(bytes);
}

static void obey(struct client *client, const char *line)
{
    char verb[16] = "";
    unsigned name = 0;
    int at = 0;
    sscanf(line, "%15s %u %n", verb, &name, &at);
    struct place *place = &client->places[name % NAMES];
    const char *rest = line + at;
    if (strcmp(verb, "link") == 0) {
        open_link(client, place, rest);
    } else if (strcmp(verb, "call") == 0) {
        open_call(client, place, rest);
    } else if (strcmp(verb, "cancel") == 0) {
        call_cancel(&place->call);
    } else if (strcmp(verb, "close") == 0) {
        link_close(&place->link);
    } else if (strcmp(verb, "live") == 0) {
        printf("live %zu %zu %zu %zu\n", client->live.links, client->live.calls,
               client->charge.total, client->charge.peak);
    } else if (strcmp(verb, "quit") == 0) {
        loop_stop(client->loop);
    } else if (place->call == NULL) {
        printf("ended already\n");
    } else if (strcmp(verb, "send") == 0) {
        call_send(place->call, slice_str(rest), false);
    } else if (strcmp(verb, "fill") == 0) {
        fill(place, strtoul(rest, NULL, 10));
    } else if (strcmp(verb, "tie") == 0) {
        place->tied = &client->places[strtoul(rest, NULL, 10) % NAMES];
    } else if (strcmp(verb, "half") == 0) {
        call_half_close(place->call);
    }
}

static void on_command(evutil_socket_t fd, short what, void *owner)
{
    (void)what;
    struct client *client = owner;
    const ssize_t n = read(fd, client->line + client->len, sizeof client->line - 1 - client->len);
    if (n <= 0) {
        loop_stop(client->loop);
        return;
    }
    client->len += (size_t)n;
    char *end;
    while ((end = memchr(client->line, '\n', client->len)) != NULL) {
        *end = '\0';
        obey(client, client->line);
        const size_t used = (size_t)(end + 1 - client->line);
        memmove(client->line, end + 1, client->len - used);
        client->len -= used;
    }
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    static struct client client;
    client.loop = loop_new("client");
    client.max = argc > 1 ? strtoul(argv[1], NULL, 10) : 128u << 20;
    for (unsigned i = 0; i < NAMES; i++) {
        client.places[i] = (struct place){.client = &client, .name = i};
    }
    client.commands =
        event_new(loop_base(client.loop), 0, EV_READ | EV_PERSIST, on_command, &client);
    event_add(client.commands, NULL);
    loop_run(client.loop);
    for (unsigned i = 0; i < NAMES; i++) {
        link_close(&client.places[i].link);
    }
    event_free(client.commands);
    loop_free(&client.loop);
    tls_free(&client.tls);
    printf("final %zu %zu %zu\n", client.live.links, client.live.calls, client.charge.total);
    return 0;
}
