// SPDX-License-Identifier: Apache-2.0
/*
 * What gRPC adds to HTTP/2, as pure functions: header fields in, facts out; numbers and texts in
 * the forms that travel in headers; the codes that stand for what HTTP/2 alone can say.
 */
#pragma once

#include "frame/error.h"
#include "frame/slice.h"
#include "liaison/http2/headers.h"

#include <stdint.h>

/* A message on the wire: | 1 byte compressed flag | 4 bytes length, big endian | bytes | */
#define GRPC_PREFIX_BYTES  5
#define GRPC_TIMEOUT_CHARS 10   /* 8 digits, a unit, a zero byte */
#define GRPC_TEXT_CHARS    4096 /* of an encoded grpc-message */

/* The head of a call, checked. Slices are borrowed from the headers. */
struct grpc_request {
    struct slice path;
    struct slice authority;
    struct slice encoding; /* of compressed messages; len 0: none was declared */
    bool has_timeout;
    uint64_t timeout_ns;
    unsigned http_status; /* 200, or with which status to refuse; 415 bears no gRPC status */
};

/* False: the request is refused with request->http_status and err. */
bool grpc_read_request(const struct headers *headers, struct grpc_request *request,
                       struct error *err) MUST_CHECK;

/* The status of a call from its last header block; `http_status` is that of the first one.
 * Code NONE = OK, then status->text is empty. False: there was no status that can be read, and this
 * one was made here. */
bool grpc_read_status(const struct headers *trailers, unsigned http_status, struct error *status);
/* A 1xx status: the answer is still to come. */
bool grpc_is_informational(const struct headers *headers);
/* The code and text for an answer that is no gRPC at all (`:status`, `content-type`). False: it is
 * not, and err says so. */
bool grpc_read_response(const struct headers *headers, unsigned *http_status_out,
                        struct error *err) MUST_CHECK;

void grpc_write_prefix(uint8_t prefix[GRPC_PREFIX_BYTES], uint32_t len);

/* "1 to 8 digits and one unit of H M S m u n" as nanoseconds; saturates. False: not of that form.
 */
bool grpc_parse_timeout(struct slice text, uint64_t *ns_out) MUST_CHECK;
/* The finest unit that fits into 8 digits, rounded up: the peer never gives up before us. */
void grpc_format_timeout(uint64_t ns, char text_out[GRPC_TIMEOUT_CHARS]);

/* Bytes outside 0x20…0x7E and '%' become %XX; cut before the character that would pass
 * GRPC_TEXT_CHARS. Returns the length; a zero byte follows. */
size_t grpc_encode_text(const char *text, char text_out[GRPC_TEXT_CHARS + 1]);
/* The reverse; what is no valid escape stays as it is. Cut to fit; always terminated. */
void grpc_decode_text(struct slice encoded, char *text_out, size_t capacity);

/* The code for a stream that the peer reset; the code for an HTTP status without grpc-status. */
enum error_code grpc_code_of_reset(uint32_t http2_code);
enum error_code grpc_code_of_http(unsigned http_status);
