// SPDX-License-Identifier: Apache-2.0
/* A classic BPF program of one instruction returns the number. */
#include "liaison/http2/steering.h"

#include <linux/filter.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define PROBE_MS 20

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

bool steering_choose(int listening_fd, unsigned number)
{
    struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, number)};
    const struct sock_fprog program = {.len = 1, .filter = code};
    return setsockopt(listening_fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program,
                      sizeof program) == 0;
}

void steering_clear(int listening_fd)
{
    const int unused = 0;
    setsockopt(listening_fd, SOL_SOCKET, SO_DETACH_REUSEPORT_BPF, &unused, sizeof unused);
}

/* Where the socket listens; "all addresses" is reached by the loopback one. */
static bool reach(int listening_fd, union address *address, socklen_t *len)
{
    *len = sizeof *address;
    if (getsockname(listening_fd, &address->any, len) != 0) {
        return false;
    }
    if (address->any.sa_family == AF_INET6) {
        if (IN6_IS_ADDR_UNSPECIFIED(&address->six.sin6_addr)) {
            address->six.sin6_addr = in6addr_loopback;
        }
    } else if (address->four.sin_addr.s_addr == htonl(INADDR_ANY)) {
        address->four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    return true;
}

static bool is_connected(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    return poll(&ready, 1, PROBE_MS) == 1 && (ready.revents & (POLLERR | POLLHUP)) == 0;
}

int steering_probe(int listening_fd, uint16_t *port_out)
{
    union address address = {.any.sa_family = AF_UNSPEC};
    socklen_t len;
    if (!reach(listening_fd, &address, &len)) {
        return -1;
    }
    const int fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    (void)connect(fd, &address.any, len); /* is_connected tells */
    len = sizeof address;
    if (!is_connected(fd) || getsockname(fd, &address.any, &len) != 0) {
        close(fd);
        return -1;
    }
    *port_out =
        ntohs(address.any.sa_family == AF_INET6 ? address.six.sin6_port : address.four.sin_port);
    return fd;
}
