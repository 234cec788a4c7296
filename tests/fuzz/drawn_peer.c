// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/drawn_peer.h"

#include <sys/socket.h>
#include <unistd.h>

enum frame_type {
    DATA,
    HEADERS,
    PRIORITY,
    RESET,
    SETTINGS,
    PUSH,
    PING,
    GOAWAY,
    WINDOW,
    CONTINUATION
};

enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4, PADDED = 8, WITH_PRIORITY = 32 };

/* Bytes */

static void put(struct drawn_peer *peer, const void *bytes, size_t len)
{
    if (len <= sizeof peer->bytes - peer->end) {
        memcpy(peer->bytes + peer->end, bytes, len);
        peer->end += len;
    }
}

/* Big endian. */
static void put_number(struct drawn_peer *peer, uint64_t number, size_t len)
{
    for (; len > 8; len--) {
        put(peer, "", 1);
    }
    for (; len > 0; len--) {
        const uint8_t byte = (uint8_t)(number >> 8 * (len - 1));
        put(peer, &byte, 1);
    }
}

static void put_any(struct drawn_peer *peer, size_t len)
{
    for (; len > 0; len--) {
        put_number(peer, draw_byte(peer->draw), 1);
    }
}

/* Frames: a head whose length is filled in at the end, and is the right one, mostly. */

static size_t begin_frame(struct drawn_peer *peer, enum frame_type type, unsigned flags,
                          uint32_t stream)
{
    const size_t begin = peer->end;
    if (draw_once_in(peer->draw, 64)) {
        flags ^= 1u << draw_below(peer->draw, 8);
    }
    put_number(peer, 0, 3);
    put_number(peer, type, 1);
    put_number(peer, flags, 1);
    put_number(peer, stream, 4);
    return begin;
}

static void end_frame(struct drawn_peer *peer, size_t begin)
{
    size_t len = peer->end - begin - 9;
    if (peer->end < begin + 9) {
        return;
    }
    if (draw_once_in(peer->draw, 128)) {
        len = (size_t)draw_number(peer->draw);
    }
    for (size_t i = 0; i < 3; i++) {
        peer->bytes[begin + i] = (uint8_t)(len >> 8 * (2 - i));
    }
}

/* One that there is or was, seldom one that cannot be. */
static uint32_t draw_stream(struct drawn_peer *peer)
{
    if (draw_once_in(peer->draw, 32)) {
        return (uint32_t)draw_below(peer->draw, 64);
    }
    return peer->streams == 0 ? 1 : 1 + 2 * (uint32_t)draw_below(peer->draw, peer->streams);
}

static void put_field(struct drawn_peer *peer, const char *name, const char *value)
{
    static const uint8_t literal[] = {0, 0x10};
    put(peer, literal + draw_below(peer->draw, 2), 1);
    put_number(peer, strlen(name), 1);
    put(peer, name, strlen(name));
    put_number(peer, strlen(value) & 0x7F, 1);
    put(peer, value, strlen(value) & 0x7F);
}

static const char *const of_request[][4] = {
    {":method", "POST", "POST", "GET"},
    {":scheme", "http", "http", "https"},
    {":path", "/test.Echo/Echo", "/", "*"},
    {":authority", "here", "", "there:80"},
    {"te", "trailers", "trailers", "gzip"},
    {"content-type", "application/grpc", "application/grpc+proto", "text/html"},
    {"grpc-timeout", "1n", "5S", "99999999H"},
    {"grpc-encoding", "identity", "gzip", "\xff"},
    {"x-trace-bin", "AAEC", "%%%", ""},
};
static const char *const of_answer[][4] = {
    {":status", "200", "103", "503"},
    {"content-type", "application/grpc", "application/grpc+proto", "text/html"},
    {"grpc-encoding", "identity", "gzip", ""},
    {"grpc-status", "0", "8", "x"},
    {"grpc-message", "gone%20away", "%FF%", ""},
};
static const char *const of_trailers[][4] = {
    {"grpc-status", "0", "14", "99999999999"},
    {"grpc-message", "no%20more", "%zz", ""},
    {"banyandb-incomplete", "a", "", "b"},
    {":status", "200", "100", "x"},
};

/* Most of them, most as they ought to be. */
static void put_fields(struct drawn_peer *peer, const char *const (*fields)[4], size_t count,
                       size_t least)
{
    for (size_t i = 0; i < count; i++) {
        const bool left_out = draw_once_in(peer->draw, i < least ? 64 : 2);
        if (!left_out) {
            const size_t which = draw_once_in(peer->draw, 16) ? draw_below(peer->draw, 3) : 0;
            put_field(peer, fields[i][0], fields[i][1 + which]);
        }
    }
    if (draw_once_in(peer->draw, 32)) {
        put_any(peer, draw_below(peer->draw, 32));
    }
}

static void put_block(struct drawn_peer *peer, bool trailers)
{
#define FIELDS(fields, least) put_fields(peer, fields, sizeof fields / sizeof *fields, least)
    if (trailers) {
        FIELDS(of_trailers, 1);
    } else if (peer->is_client) {
        FIELDS(of_request, 6);
    } else {
        FIELDS(of_answer, 2);
    }
#undef FIELDS
}

static void put_headers(struct drawn_peer *peer)
{
    const bool trailers = !peer->is_client && draw_once_in(peer->draw, 2);
    const bool again = !peer->is_client || draw_once_in(peer->draw, 8);
    if (!again) {
        peer->streams++;
    }
    const uint32_t stream = again ? draw_stream(peer) : 2 * peer->streams - 1;
    const bool whole = !draw_once_in(peer->draw, 16);
    const bool ends = trailers ? !draw_once_in(peer->draw, 16) : draw_once_in(peer->draw, 8);
    const size_t begin =
        begin_frame(peer, HEADERS, (whole ? END_HEADERS : 0u) | (ends ? END_STREAM : 0u), stream);
    put_block(peer, trailers);
    end_frame(peer, begin);
    for (size_t left = whole ? 0 : draw_below(peer->draw, 12); left > 0; left--) {
        const size_t next = begin_frame(peer, CONTINUATION, left == 1 ? END_HEADERS : 0, stream);
        put_block(peer, true);
        end_frame(peer, next);
    }
}

/* A gRPC message, a part of one, two of them, or less than a prefix. */
static void put_message(struct drawn_peer *peer)
{
    const size_t len = draw_once_in(peer->draw, 16) ? 16000 : draw_below(peer->draw, 64);
    const size_t told = draw_once_in(peer->draw, 16) ? (size_t)draw_number(peer->draw) : len;
    static const uint8_t body[16000];
    put_number(peer, draw_once_in(peer->draw, 32), 1);
    put_number(peer, told, 4);
    put(peer, body, len);
}

static void put_data(struct drawn_peer *peer)
{
    const bool ends = draw_once_in(peer->draw, 3);
    const bool padded = draw_once_in(peer->draw, 16);
    const size_t begin = begin_frame(peer, DATA, (ends ? END_STREAM : 0u) | (padded ? PADDED : 0u),
                                     draw_stream(peer));
    if (padded) {
        put_any(peer, 1);
    }
    if (draw_once_in(peer->draw, 4)) {
        put_any(peer, draw_below(peer->draw, 8));
    } else {
        put_message(peer);
    }
    end_frame(peer, begin);
}

static void put_settings(struct drawn_peer *peer)
{
    static const uint32_t values[] = {0, 1, 16384, 65535, 1u << 20, 0x7FFFFFFF, 0xFFFFFFFF};
    const bool ack = draw_once_in(peer->draw, 2);
    const size_t begin = begin_frame(peer, SETTINGS, ack ? ACK : 0, 0);
    for (size_t left = ack ? 0 : draw_below(peer->draw, 4); left > 0; left--) {
        put_number(peer, draw_below(peer->draw, 8), 2);
        put_number(peer, values[draw_below(peer->draw, sizeof values / sizeof *values)], 4);
    }
    end_frame(peer, begin);
}

static void put_numbers(struct drawn_peer *peer, enum frame_type type, uint32_t stream, size_t len)
{
    const size_t begin = begin_frame(peer, type, 0, stream);
    if (draw_once_in(peer->draw, 4)) {
        put_any(peer, len);
    } else {
        put_number(peer, draw_byte(peer->draw), len);
    }
    end_frame(peer, begin);
}

static void put_frame(struct drawn_peer *peer)
{
    switch (draw_below(peer->draw, 20)) {
    case 0:
        put_numbers(peer, RESET, draw_stream(peer), 4);
        break;
    case 1:
        put_settings(peer);
        break;
    case 2:
    case 3:
        put_numbers(peer, WINDOW, draw_once_in(peer->draw, 2) ? 0 : draw_stream(peer), 4);
        break;
    case 4:
        put_numbers(peer, PING, 0, 8);
        break;
    case 5:
        put_numbers(peer, draw_once_in(peer->draw, 8) ? GOAWAY : PRIORITY,
                    draw_once_in(peer->draw, 2) ? 0 : draw_stream(peer),
                    draw_below(peer->draw, 12));
        break;
    case 6:
        put_numbers(peer, (enum frame_type)draw_below(peer->draw, 12), draw_stream(peer),
                    draw_below(peer->draw, 16));
        break;
    case 7: {
        const size_t begin = begin_frame(peer, GOAWAY, 0, 0);
        put_number(peer, draw_once_in(peer->draw, 2) ? 0x7FFFFFFF : draw_below(peer->draw, 8), 4);
        put_number(peer, draw_below(peer->draw, 4), 4);
        put_any(peer, draw_below(peer->draw, 16));
        end_frame(peer, begin);
        break;
    }
    case 8:
        if (draw_once_in(peer->draw, 8)) {
            put_any(peer, draw_below(peer->draw, 64));
        }
        break;
    case 9:
    case 10:
    case 11:
    case 12:
    case 13:
        put_data(peer);
        break;
    default:
        put_headers(peer);
        break;
    }
}

/* The socket */

static void write_some(struct drawn_peer *peer)
{
    size_t len = peer->end - peer->begin;
    if (draw_once_in(peer->draw, 4)) {
        const size_t part = draw_byte(peer->draw);
        len = part < len ? part : len;
    }
    const ssize_t sent =
        len == 0 ? 0 : send(peer->fd, peer->bytes + peer->begin, len, MSG_NOSIGNAL);
    if (sent > 0) {
        peer->begin += (size_t)sent;
    }
    if (peer->begin == peer->end) {
        peer->begin = 0;
        peer->end = 0;
    }
}

static void read_some(struct drawn_peer *peer)
{
    static uint8_t sink[1 << 18];
    const size_t most =
        draw_once_in(peer->draw, 4) ? 1 + (size_t)draw_byte(peer->draw) : sizeof sink;
    (void)!recv(peer->fd, sink, most, 0);
}

void drawn_peer_init(struct drawn_peer *peer, struct draw *draw, bool is_client, int fd)
{
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    const struct linger reset = {.l_onoff = 1};
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset); /* no port waits */
    *peer = (struct drawn_peer){.draw = draw, .is_client = is_client, .fd = fd};
    if (draw_once_in(draw, 64)) {
        return;
    }
    if (is_client) {
        put(peer, preface, sizeof preface - 1);
    }
    end_frame(peer, begin_frame(peer, SETTINGS, 0, 0));
}

void drawn_peer_step(struct drawn_peer *peer)
{
    if (peer->fd < 0) {
        return;
    }
    switch (draw_below(peer->draw, 16)) {
    case 0:
        if (draw_once_in(peer->draw, 16)) {
            (void)shutdown(peer->fd, SHUT_WR);
        }
        break;
    case 1:
        if (draw_once_in(peer->draw, 16)) {
            drawn_peer_fini(peer);
            return;
        }
        break;
    case 2:
    case 3:
    case 4:
        read_some(peer);
        break;
    case 5:
    case 6:
    case 7:
        break;
    default:
        put_frame(peer);
        break;
    }
    write_some(peer);
}

void drawn_peer_fini(struct drawn_peer *peer)
{
    if (peer->fd >= 0) {
        close(peer->fd);
        peer->fd = -1;
    }
}
