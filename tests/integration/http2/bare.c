// SPDX-License-Identifier: Apache-2.0
/* Requests and answers are read and written 256 KiB at a time, as the loop does. */
#include "tests/integration/http2/bare.h"

#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PART ((size_t)256 << 10)

struct side {
    const struct bare_load *load;
    int fd;
    double cpu;
};

static double cpu_seconds(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static void give(int fd, size_t len)
{
    static _Thread_local uint8_t bytes[PART];
    while (len > 0) {
        const ssize_t n = send(fd, bytes, len < PART ? len : PART, MSG_NOSIGNAL);
        assert(n > 0);
        len -= (size_t)n;
    }
}

static void take(int fd, size_t len)
{
    static _Thread_local uint8_t bytes[PART];
    while (len > 0) {
        const ssize_t n = recv(fd, bytes, len < PART ? len : PART, 0);
        assert(n > 0);
        len -= (size_t)n;
    }
}

static void *ask(void *owner)
{
    struct side *side = owner;
    const struct bare_load *load = side->load;
    for (unsigned done = 0; done < load->calls; done += load->in_flight) {
        give(side->fd, load->in_flight * load->request);
        take(side->fd, load->in_flight * load->answer);
    }
    side->cpu = cpu_seconds();
    return NULL;
}

static void *serve(void *owner)
{
    struct side *side = owner;
    const struct bare_load *load = side->load;
    for (unsigned done = 0; done < load->calls; done += load->in_flight) {
        take(side->fd, load->in_flight * load->request);
        give(side->fd, load->in_flight * load->answer);
    }
    side->cpu = cpu_seconds();
    return NULL;
}

static void connect_both(int *client_out, int *server_out)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    const int on = 1;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    *client_out = socket(AF_INET, SOCK_STREAM, 0);
    int failed = bind(listener, (struct sockaddr *)&address, len);
    failed |= listen(listener, 1);
    failed |= getsockname(listener, (struct sockaddr *)&address, &len);
    failed |= connect(*client_out, (struct sockaddr *)&address, len);
    *server_out = accept(listener, NULL, NULL);
    assert(failed == 0 && *server_out >= 0);
    setsockopt(*client_out, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(*server_out, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    close(listener);
}

void bare_run(const struct bare_load *load, double *client_out, double *server_out)
{
    struct side client = {.load = load};
    struct side server = {.load = load};
    pthread_t thread;
    pthread_t other;
    connect_both(&client.fd, &server.fd);
    pthread_create(&thread, NULL, serve, &server);
    pthread_create(&other, NULL, ask, &client);
    pthread_join(other, NULL);
    pthread_join(thread, NULL);
    close(client.fd);
    close(server.fd);
    *client_out = client.cpu;
    *server_out = server.cpu;
}
