// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as what a peer controls of gRPC: DATA in chunks of any size, a timeout, a text, and
 * header fields. The first byte of the input says how long the chunks and fields are.
 */
#include "liaison/http2/inbox.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

#define MESSAGE_MAX 4096

static size_t cut(struct slice *rest, size_t step)
{
    const size_t part = rest->len < step ? rest->len : step;
    rest->ptr += part;
    rest->len -= part;
    return part;
}

/* The messages are the input without prefixes, in order. */
static void receive(struct slice rest, size_t step)
{
    struct charge charge = {0};
    struct inbox inbox;
    struct msg *msg;
    enum inbox_result result = INBOX_NEED_MORE;
    const uint8_t *at = rest.ptr;
    inbox_init(&inbox, MESSAGE_MAX, &charge);
    while (rest.len > 0 && result != INBOX_BROKEN) {
        const uint8_t *begin = rest.ptr;
        struct slice chunk = slice_of(begin, cut(&rest, step));
        while ((result = inbox_feed(&inbox, &chunk, &msg, NULL)) == INBOX_MESSAGE) {
            const struct slice body = msg_bytes(msg);
            assert(slice_equal(body, slice_of(at + GRPC_PREFIX_BYTES, body.len)));
            at += GRPC_PREFIX_BYTES + body.len;
            msg_release(&msg);
        }
    }
    const bool whole = result == INBOX_NEED_MORE && inbox_end(&inbox, NULL);
    assert(!whole || at == rest.ptr);
    inbox_fini(&inbox);
    assert(charge.total == 0);
}

static void read_forms(struct slice text)
{
    char timeout[GRPC_TIMEOUT_CHARS];
    uint64_t ns = 0;
    uint64_t again = 0;
    if (grpc_parse_timeout(text, &ns)) {
        grpc_format_timeout(ns, timeout);
        const bool good = grpc_parse_timeout(slice_str(timeout), &again);
        assert(good && again >= ns);
    }
    char decoded[MESSAGE_MAX];
    char encoded[GRPC_TEXT_CHARS + 1];
    grpc_decode_text(text, decoded, sizeof decoded);
    const size_t len = grpc_encode_text(decoded, encoded);
    assert(len <= GRPC_TEXT_CHARS && encoded[len] == '\0');
}

static void read_headers(struct slice rest, size_t step)
{
    static const char *const names[] = {":method",       "content-type", "grpc-timeout",
                                        "grpc-encoding", ":status",      "grpc-status",
                                        "grpc-message",  ":path",        "x-other"};
    struct headers headers;
    struct grpc_request request;
    struct error err;
    unsigned http_status = 0;
    headers_init(&headers, 2048, NULL);
    for (size_t i = 0; rest.len > 0; i++) {
        const uint8_t *value = rest.ptr;
        const char *name = names[(i + step) % (sizeof names / sizeof names[0])];
        headers_add(&headers, slice_str(name), slice_of(value, cut(&rest, step)));
    }
    (void)!grpc_read_request(&headers, &request, &err);
    (void)!grpc_read_response(&headers, &http_status, &err);
    (void)grpc_is_informational(&headers);
    (void)grpc_read_status(&headers, http_status, &err);
    headers_fini(&headers);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len == 0) {
        return 0;
    }
    uint8_t *copy = malloc(len); /* so that reading beyond it is seen */
    memcpy(copy, bytes, len);
    const size_t step = 1 + (size_t)bytes[0];
    const struct slice rest = slice_of(copy + 1, len - 1);
    receive(rest, step);
    read_forms(rest);
    read_headers(rest, step);
    free(copy);
    return 0;
}
