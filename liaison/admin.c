// SPDX-License-Identifier: Apache-2.0
/* libevent's own HTTP server, kept small: three paths, GET and HEAD, no bodies. */
#include "liaison/admin.h"

#include "liaison/own.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define REQUEST_TIMEOUT_S 10
#define MAX_HEAD_BYTES    8192
#define MAX_BODY_BYTES    4096

struct admin {
    struct admin_setup setup;
    struct evhttp *http; /* own */
    uint16_t port;
};

/* Ends the last line, also of a text that is none by itself: terminals show what follows below. */
static void send_text(struct evhttp_request *request, int status, const char *reason,
                      const char *type, const char *text)
{
    struct evbuffer *body = evbuffer_new();
    const size_t len = strlen(text);
    evbuffer_add(body, text, len);
    if (len == 0 || text[len - 1] != '\n') {
        evbuffer_add(body, "\n", 1);
    }
    evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type", type);
    evhttp_send_reply(request, status, reason, body);
    evbuffer_free(body);
}

static void on_metrics(struct evhttp_request *request, void *owner)
{
    struct admin *admin = owner;
    if (admin->setup.before_metrics != NULL) {
        admin->setup.before_metrics(admin->setup.owner);
    }
    char *text = metrics_text(admin->setup.metrics);
    send_text(request, HTTP_OK, "OK", "text/plain; version=0.0.4; charset=utf-8", text);
    free(text);
}

static void on_health(struct evhttp_request *request, void *owner)
{
    struct admin *admin = owner;
    struct error why = {0};
    if (admin->setup.is_ready(admin->setup.owner, &why)) {
        send_text(request, HTTP_OK, "OK", "text/plain; charset=utf-8", "ok\n");
        return;
    }
    send_text(request, HTTP_SERVUNAVAIL, "Service Unavailable", "text/plain; charset=utf-8",
              why.text);
}

struct admin_request {
    struct evhttp_request *http; /* borrow: libevent's; NULL when its connection is gone */
};

static void on_gone(struct evhttp_connection *connection, void *owner)
{
    (void)connection;
    ((struct admin_request *)owner)->http = NULL;
}

static void on_nodes(struct evhttp_request *http, void *owner)
{
    struct admin *admin = owner;
    struct admin_request *request = own_array(1, sizeof *request);
    request->http = http;
    evhttp_connection_set_closecb(evhttp_request_get_connection(http), on_gone, request);
    admin->setup.on_nodes(admin->setup.owner, request);
}

void admin_reply(struct admin_request **request, const char *json)
{
    struct evhttp_request *http = (*request)->http;
    free(*request);
    *request = NULL;
    if (http != NULL) {
        evhttp_connection_set_closecb(evhttp_request_get_connection(http), NULL, NULL);
        send_text(http, HTTP_OK, "OK", "application/json", json);
    }
}

static void on_other(struct evhttp_request *request, void *owner)
{
    (void)owner;
    send_text(request, HTTP_NOTFOUND, "Not Found", "text/plain; charset=utf-8",
              "not found: /metrics, /healthz and /nodes are here\n");
}

/* ":2121", "host:2121", "[::1]:2121" */
static bool split_address(const char *address, char host[256], uint16_t *port_out,
                          struct error *err)
{
    const char *colon = strrchr(address, ':');
    char *end = NULL;
    if (colon == NULL) {
        return error_set(err, ERROR_INVALID_ARGUMENT,
                         "--observability-listener-addr=%s: expected host:port or :port", address);
    }
    const unsigned long port = strtoul(colon + 1, &end, 10);
    const size_t len = (size_t)(colon - address);
    if (end == colon + 1 || *end != '\0' || port > UINT16_MAX || len > 255) {
        return error_set(err, ERROR_INVALID_ARGUMENT,
                         "--observability-listener-addr=%s: expected host:port or :port", address);
    }
    const bool brackets = len > 1 && address[0] == '[' && address[len - 1] == ']';
    const size_t inner = brackets ? len - 2 : len;
    memcpy(host, address + (brackets ? 1 : 0), inner);
    host[inner] = '\0';
    *port_out = (uint16_t)port;
    return true;
}

static uint16_t bound_port(struct evhttp_bound_socket *socket)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address = {.v6 = {0}};
    socklen_t len = sizeof address;
    if (getsockname(evhttp_bound_socket_get_fd(socket), &address.any, &len) != 0) {
        return 0;
    }
    return ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
}

/* No host = all addresses; a machine without IPv6 has only those of IPv4. */
static bool bind_address(struct admin *admin, struct error *err)
{
    char host[256] = "";
    uint16_t port = 0;
    if (!split_address(admin->setup.address, host, &port, err)) {
        return false;
    }
    struct evhttp_bound_socket *socket =
        evhttp_bind_socket_with_handle(admin->http, host[0] == '\0' ? "::" : host, port);
    if (socket == NULL && host[0] == '\0' && errno != EADDRINUSE) {
        socket = evhttp_bind_socket_with_handle(admin->http, "0.0.0.0", port);
    }
    if (socket == NULL) {
        return error_set(err, ERROR_UNAVAILABLE, "--observability-listener-addr=%s: %s",
                         admin->setup.address, strerror(errno));
    }
    admin->port = bound_port(socket);
    return true;
}

struct admin *admin_open(const struct admin_setup *setup, struct error *err)
{
    struct admin *admin = own_array(1, sizeof *admin);
    admin->setup = *setup;
    admin->http = evhttp_new(loop_base(setup->loop));
    evhttp_set_allowed_methods(admin->http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
    evhttp_set_timeout(admin->http, REQUEST_TIMEOUT_S);
    evhttp_set_max_headers_size(admin->http, MAX_HEAD_BYTES);
    evhttp_set_max_body_size(admin->http, MAX_BODY_BYTES);
    evhttp_set_cb(admin->http, "/metrics", on_metrics, admin);
    evhttp_set_cb(admin->http, "/healthz", on_health, admin);
    if (setup->on_nodes != NULL) {
        evhttp_set_cb(admin->http, "/nodes", on_nodes, admin);
    }
    evhttp_set_gencb(admin->http, on_other, admin);
    if (!bind_address(admin, err)) {
        admin_close(&admin);
    }
    return admin;
}

uint16_t admin_port(const struct admin *admin)
{
    return admin->port;
}

void admin_close(struct admin **admin)
{
    if (*admin != NULL) {
        evhttp_free((*admin)->http);
        free(*admin);
        *admin = NULL;
    }
}
