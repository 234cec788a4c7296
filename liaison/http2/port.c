// SPDX-License-Identifier: Apache-2.0
/* "All addresses" is one IPv6 socket that takes IPv4 as well, or IPv4 where there is no v6. */
#include "liaison/http2/port.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 4096

static void tune(int fd, int family, bool reuse_port)
{
    const int on = 1;
    const int off = 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (reuse_port) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    }
    if (family == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
}

static int listen_at(const struct addrinfo *at, bool reuse_port)
{
    const int fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    tune(fd, at->ai_family, reuse_port);
    if (bind(fd, at->ai_addr, at->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
        const int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

static int listen_everywhere(uint16_t number, bool reuse_port)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(number)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(number)};
    const struct addrinfo any[2] = {
        {.ai_family = AF_INET6, .ai_addr = (struct sockaddr *)&six, .ai_addrlen = sizeof six},
        {.ai_family = AF_INET, .ai_addr = (struct sockaddr *)&four, .ai_addrlen = sizeof four},
    };
    const int fd = listen_at(&any[0], reuse_port);
    const bool no_v6 = fd < 0 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL);
    return no_v6 ? listen_at(&any[1], reuse_port) : fd;
}

/* False: the host has no address, err tells. Otherwise *fd_out is the socket, or -1 and errno. */
static bool listen_on(const char *host, const char *number, bool reuse_port, int *fd_out,
                      struct error *err)
{
    const struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    const int code = getaddrinfo(host, number, &hints, &found);
    if (code != 0) {
        return error_set(err, ERROR_UNAVAILABLE, "cannot listen on %s:%s: %s", host, number,
                         gai_strerror(code));
    }
    *fd_out = listen_at(found, reuse_port);
    freeaddrinfo(found);
    return true;
}

int port_open(const char *host, uint16_t number, bool reuse_port, struct error *err)
{
    int fd = -1;
    char text[8];
    (void)snprintf(text, sizeof text, "%u", number);
    if (host[0] == '\0') {
        host = "*";
        fd = listen_everywhere(number, reuse_port);
    } else if (!listen_on(host, text, reuse_port, &fd, err)) {
        return -1;
    }
    if (fd < 0) {
        error_set(err, ERROR_UNAVAILABLE, "cannot listen on %s:%s: %s", host, text,
                  strerror(errno));
    }
    return fd;
}

uint16_t port_number(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } address = {.any.sa_family = AF_UNSPEC};
    socklen_t len = sizeof address;
    if (getsockname(fd, &address.any, &len) != 0) {
        return 0;
    }
    return ntohs(address.any.sa_family == AF_INET6 ? address.six.sin6_port : address.four.sin_port);
}
