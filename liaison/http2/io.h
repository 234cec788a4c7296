// SPDX-License-Identifier: Apache-2.0
/*
 * A connected, non-blocking socket, in clear text or under TLS: one table of operations for each.
 * Whoever uses it waits for readiness himself. What TLS allocates is paid from a ledger.
 */
#pragma once

#include "frame/error.h"
#include "liaison/http2/ledger.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct iovec;
struct ssl_st;
struct ssl_ctx_st;
struct io_ops;

/* What the peer's first bytes say about it: whoever mixes clear text and TLS gets errors that do
 * not tell so. */
enum io_peer {
    IO_PEER_UNKNOWN,  /* nothing came yet */
    IO_PEER_FITS,     /* it speaks as we do */
    IO_PEER_LEFT,     /* it closed the connection before a byte came */
    IO_PEER_MISMATCH, /* it speaks TLS and we do not, or the other way round */
};

struct io {
    int fd;                   /* own; -1 = none */
    struct ssl_st *ssl;       /* own; NULL = clear text */
    const struct io_ops *ops; /* borrow: static */
    enum io_peer peer;        /* stays after io_fini */
    struct ledger *ledger;    /* borrow */
    size_t paid;              /* to it, for TLS */
};

enum {
    IO_AGAIN = -1,  /* wait until the socket is ready */
    IO_BROKEN = -2, /* err tells */
};

/* How TLS begins; both borrowed during io_init. */
struct io_tls {
    struct ssl_ctx_st *context; /* NULL = clear text */
    char *host; /* whom we connect to, and who has to prove it; NULL = we accept. Only read, but
                   OpenSSL has no const there */
};

/* Takes fd. */
void io_init(struct io *io, int fd, const struct io_tls *tls, struct ledger *ledger);
/* Closes; without TLS's farewell. A second time is a no-op. */
void io_fini(struct io *io);

/* 1 = done (TLS: with protocol h2 agreed on), IO_AGAIN, IO_BROKEN. */
int io_handshake(struct io *io, struct error *err);
/* After IO_AGAIN from the handshake: wait until it is writable, not readable? */
bool io_wants_write(const struct io *io);
/* Bytes read, 0 at the end of the stream, IO_AGAIN, IO_BROKEN. */
ssize_t io_read(struct io *io, uint8_t *buf, size_t capacity, struct error *err);
/* Bytes have been taken off the socket that io_read did not return yet. */
bool io_has_more(const struct io *io);
/* Bytes lie in the socket that io_read was not called for yet. */
bool io_is_unread(const struct io *io);
/* Bytes of the front of the list that were written (at least 1), IO_AGAIN, IO_BROKEN. After
 * IO_AGAIN the same bytes must come first again. */
ssize_t io_writev(struct io *io, const struct iovec *iov, int count, struct error *err);
/* No more will be written; the peer reads an end of stream. */
void io_shutdown(struct io *io);
