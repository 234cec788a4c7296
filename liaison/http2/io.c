// SPDX-License-Identifier: Apache-2.0
/*
 * Reads fill the whole buffer where they can: for TLS that is record after record. Writes go out in
 * one system call; under TLS the small pieces are put together, so that records are full. OpenSSL
 * keeps a read buffer while a record is incomplete and a write buffer while one waits, so what it
 * holds changes with each call.
 */
#include "liaison/http2/io.h"

#include "liaison/http2/tls_memory.h"
#include "liaison/own.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define RECORD_BYTES 16384

struct io_ops {
    int (*handshake)(struct io *io, struct error *err);
    ssize_t (*read)(struct io *io, uint8_t *buf, size_t capacity, struct error *err);
    ssize_t (*writev)(struct io *io, const struct iovec *iov, int count, struct error *err);
    void (*shutdown)(struct io *io);
};

static ssize_t broken(struct error *err, const char *what, int number)
{
    error_set(err, ERROR_UNAVAILABLE, "%s: %s", what, strerror(number));
    return IO_BROKEN;
}

static bool is_again(int number)
{
    return number == EAGAIN || number == EWOULDBLOCK || number == EINTR;
}

static void note_peer(struct io *io, enum io_peer peer)
{
    if (io->peer == IO_PEER_UNKNOWN) {
        io->peer = peer;
    }
}

/* Clear text */

static int plain_handshake(struct io *io, struct error *err)
{
    (void)io;
    (void)err;
    return 1;
}

/* The first byte of a TLS record: change_cipher_spec, alert, handshake, data. HTTP/2 begins with P
 * or 0. */
static bool begins_as_tls(const uint8_t *bytes, ssize_t len)
{
    return len > 0 && bytes[0] >= 0x14 && bytes[0] <= 0x17;
}

static ssize_t plain_read(struct io *io, uint8_t *buf, size_t capacity, struct error *err)
{
    const ssize_t n = recv(io->fd, buf, capacity, 0);
    if (n < 0 && is_again(errno)) {
        return IO_AGAIN;
    }
    if (io->peer == IO_PEER_UNKNOWN && begins_as_tls(buf, n)) {
        io->peer = IO_PEER_MISMATCH;
        error_set(err, ERROR_UNAVAILABLE, "the peer speaks TLS, clear text was expected");
        return IO_BROKEN;
    }
    note_peer(io, n > 0 ? IO_PEER_FITS : IO_PEER_LEFT);
    return n >= 0 ? n : broken(err, "read", errno);
}

static ssize_t plain_writev(struct io *io, const struct iovec *iov, int count, struct error *err)
{
    struct msghdr list = {.msg_iovlen = (size_t)count};
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the pointer itself is copied
    memcpy(&list.msg_iov, &iov, sizeof list.msg_iov); /* only read, but not declared const */
    const ssize_t n = sendmsg(io->fd, &list, MSG_NOSIGNAL);
    if (n >= 0) {
        return n;
    }
    if (is_again(errno)) {
        return IO_AGAIN;
    }
    note_peer(io, IO_PEER_LEFT);
    return broken(err, "write", errno);
}

static void plain_shutdown(struct io *io)
{
    shutdown(io->fd, SHUT_WR);
}

static const struct io_ops plain = {plain_handshake, plain_read, plain_writev, plain_shutdown};

/* TLS */

static void tls_reason(struct error *err, const char *what)
{
    char text[256];
    const unsigned long code = ERR_peek_last_error();
    ERR_error_string_n(code, text, sizeof text);
    error_set(err, ERROR_UNAVAILABLE, "TLS %s: %s", what,
              code != 0 ? text : "the peer closed the connection");
    ERR_clear_error();
}

static ssize_t tls_failed(struct io *io, int result, const char *what, struct error *err)
{
    const int saved = errno;
    switch (SSL_get_error(io->ssl, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        return IO_AGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    case SSL_ERROR_SYSCALL:
        if (saved != 0) {
            return broken(err, what, saved);
        }
        break;
    }
    tls_reason(err, what);
    return IO_BROKEN;
}

/* What came is no TLS record. OpenSSL knows some words of HTTP/1 by sight. */
static bool is_no_record(unsigned long code)
{
    const int reason = ERR_GET_REASON(code);
    return ERR_GET_LIB(code) == ERR_LIB_SSL &&
           (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST ||
            reason == SSL_R_HTTPS_PROXY_REQUEST);
}

static int handshake_failed(struct io *io, int result, struct error *err)
{
    const unsigned long code = ERR_peek_last_error();
    const ssize_t failed = tls_failed(io, result, "handshake", err);
    if (failed == IO_AGAIN) {
        return IO_AGAIN;
    }
    if (is_no_record(code)) {
        io->peer = IO_PEER_MISMATCH;
        error_set(err, ERROR_UNAVAILABLE, "TLS handshake: the peer speaks clear text");
        return IO_BROKEN;
    }
    io->peer = code == 0 ? IO_PEER_LEFT : IO_PEER_FITS;
    if (failed == 0) {
        error_set(err, ERROR_UNAVAILABLE, "TLS handshake: the peer closed the connection");
    }
    return IO_BROKEN;
}

static int tls_handshake(struct io *io, struct error *err)
{
    ERR_clear_error();
    errno = 0;
    const int result = SSL_do_handshake(io->ssl);
    if (result != 1) {
        return handshake_failed(io, result, err);
    }
    io->peer = IO_PEER_FITS;
    const unsigned char *protocol;
    unsigned len;
    SSL_get0_alpn_selected(io->ssl, &protocol, &len);
    if (len != 2 || memcmp(protocol, "h2", 2) != 0) {
        error_set(err, ERROR_UNAVAILABLE, "TLS handshake: the peer did not agree on protocol h2");
        return IO_BROKEN;
    }
    return 1;
}

static ssize_t tls_read(struct io *io, uint8_t *buf, size_t capacity, struct error *err)
{
    size_t got = 0;
    while (got < capacity) {
        size_t n = 0;
        ERR_clear_error();
        errno = 0;
        const int result = SSL_read_ex(io->ssl, buf + got, capacity - got, &n);
        if (result != 1) {
            /* what was read counts first; a lasting failure shows again on the next read */
            return got > 0 ? (ssize_t)got : tls_failed(io, result, "read", err);
        }
        got += n;
    }
    return (ssize_t)got;
}

static size_t put_together(const struct iovec *iov, int count, uint8_t record[RECORD_BYTES])
{
    size_t len = 0;
    for (int i = 0; i < count && len < RECORD_BYTES; i++) {
        const size_t room = RECORD_BYTES - len;
        const size_t part = iov[i].iov_len < room ? iov[i].iov_len : room;
        memcpy(record + len, iov[i].iov_base, part);
        len += part;
    }
    return len;
}

static ssize_t tls_writev(struct io *io, const struct iovec *iov, int count, struct error *err)
{
    uint8_t record[RECORD_BYTES];
    const void *bytes = iov[0].iov_base;
    size_t len = iov[0].iov_len;
    if (len < RECORD_BYTES && count > 1) {
        bytes = record;
        len = put_together(iov, count, record);
    }
    size_t n = 0;
    ERR_clear_error();
    errno = 0;
    const int result = SSL_write_ex(io->ssl, bytes, len, &n);
    if (result == 1) {
        return (ssize_t)n;
    }
    const ssize_t failed = tls_failed(io, result, "write", err);
    return failed == 0 ? broken(err, "TLS write", EPIPE) : failed;
}

static void tls_shutdown(struct io *io)
{
    SSL_shutdown(io->ssl);
    ERR_clear_error();
    shutdown(io->fd, SHUT_WR);
}

static const struct io_ops tls = {tls_handshake, tls_read, tls_writev, tls_shutdown};

static struct ssl_st *session_new(const struct io_tls *tls_of)
{
    struct ssl_st *ssl = own_checked(SSL_new(tls_of->context));
    if (tls_of->host == NULL) {
        SSL_set_accept_state(ssl);
    } else {
        SSL_set_connect_state(ssl);
        if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), tls_of->host) != 1) {
            SSL_set1_host(ssl, tls_of->host);
            SSL_set_tlsext_host_name(ssl, tls_of->host);
        }
    }
    SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                          SSL_MODE_RELEASE_BUFFERS);
    SSL_set_options(ssl, SSL_OP_IGNORE_UNEXPECTED_EOF);
    return ssl;
}

/* OpenSSL was called for this connection; `before` is what it had taken until then. */
static void pay(struct io *io, size_t before)
{
    const size_t taken = tls_memory_taken();
    if (taken - before < SIZE_MAX / 2) {
        ledger_add(io->ledger, taken - before);
        io->paid += taken - before;
    } else {
        const size_t given_back = before - taken < io->paid ? before - taken : io->paid;
        ledger_drop(io->ledger, given_back);
        io->paid -= given_back;
    }
}

void io_init(struct io *io, int fd, const struct io_tls *tls_of, struct ledger *ledger)
{
    *io = (struct io){.fd = fd, .ops = &plain, .ledger = ledger};
    if (tls_of->context != NULL) {
        const size_t before = tls_memory_taken();
        io->ops = &tls;
        io->ssl = session_new(tls_of);
        SSL_set_fd(io->ssl, fd);
        pay(io, before);
    }
}

void io_fini(struct io *io)
{
    if (io->ssl != NULL) {
        SSL_free(io->ssl);
        io->ssl = NULL;
        ledger_drop(io->ledger, io->paid);
        io->paid = 0;
    }
    if (io->fd >= 0) {
        close(io->fd);
        io->fd = -1;
    }
}

int io_handshake(struct io *io, struct error *err)
{
    const size_t before = tls_memory_taken();
    const int result = io->ops->handshake(io, err);
    pay(io, before);
    return result;
}

bool io_wants_write(const struct io *io)
{
    return io->ssl != NULL && SSL_want_write(io->ssl);
}

ssize_t io_read(struct io *io, uint8_t *buf, size_t capacity, struct error *err)
{
    const size_t before = tls_memory_taken();
    const ssize_t result = io->ops->read(io, buf, capacity, err);
    pay(io, before);
    return result;
}

bool io_has_more(const struct io *io)
{
    return io->ssl != NULL && SSL_has_pending(io->ssl);
}

bool io_is_unread(const struct io *io)
{
    int waiting = 0;
    return io->fd >= 0 && ioctl(io->fd, FIONREAD, &waiting) == 0 && waiting > 0;
}

ssize_t io_writev(struct io *io, const struct iovec *iov, int count, struct error *err)
{
    assert(count > 0);
    const size_t before = tls_memory_taken();
    const ssize_t result = io->ops->writev(io, iov, count, err);
    pay(io, before);
    return result;
}

void io_shutdown(struct io *io)
{
    const size_t before = tls_memory_taken();
    io->ops->shutdown(io);
    pay(io, before);
}
