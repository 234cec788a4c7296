// SPDX-License-Identifier: Apache-2.0
/* Tables and one function per form; no state, no input or output beyond the arguments. */
#include "liaison/http2/grpc.h"

#include <stdio.h>

#define NS_PER_S 1000000000u

/* Requests and answers */

static bool starts_with(struct slice text, const char *start)
{
    const size_t len = strlen(start);
    return text.len >= len && memcmp(text.ptr, start, len) == 0;
}

/* "application/grpc", or that with "+format" or ";parameter" behind it. */
static bool is_grpc(struct slice content_type)
{
    const size_t len = strlen("application/grpc");
    return starts_with(content_type, "application/grpc") &&
           (content_type.len == len || strchr("+;", content_type.ptr[len]) != NULL);
}

static bool refuse(struct grpc_request *request, unsigned http_status)
{
    request->http_status = http_status;
    return false;
}

static bool read_timeout(const struct headers *headers, struct grpc_request *request,
                         struct error *err)
{
    const struct slice text = headers_get(headers, "grpc-timeout");
    if (text.ptr == NULL) {
        return true;
    }
    request->has_timeout = true;
    if (grpc_parse_timeout(text, &request->timeout_ns)) {
        return true;
    }
    return error_set(err, ERROR_INTERNAL,
                     "malformed grpc-timeout: \"%.*s\" is not 1 to 8 digits and one of H M S m u n",
                     SLICE_ARG(text));
}

bool grpc_read_request(const struct headers *headers, struct grpc_request *request,
                       struct error *err)
{
    *request = (struct grpc_request){
        .path = headers_get(headers, ":path"),
        .authority = headers_get(headers, ":authority"),
        .http_status = 200,
    };
    if (request->authority.ptr == NULL) {
        request->authority = headers_get(headers, "host");
    }
    if (headers->overflowed) {
        error_set(err, ERROR_RESOURCE_EXHAUSTED,
                  "the header fields of the request exceed %zu bytes", headers->limit);
        return refuse(request, 431);
    }
    const struct slice method = headers_get(headers, ":method");
    if (!slice_equal(method, slice_str("POST"))) {
        error_set(err, ERROR_INTERNAL, "gRPC is POST, this request is %.*s", SLICE_ARG(method));
        return refuse(request, 405);
    }
    const struct slice type = headers_get(headers, "content-type");
    if (!is_grpc(type)) {
        error_set(err, ERROR_INVALID_ARGUMENT, "content-type \"%.*s\" is not application/grpc",
                  SLICE_ARG(type));
        return refuse(request, 415);
    }
    const struct slice encoding = headers_get(headers, "grpc-encoding");
    if (!slice_equal(encoding, slice_str("identity"))) {
        request->encoding = encoding;
    }
    return read_timeout(headers, request, err);
}

/* Up to `max_digits` decimal digits and nothing else; -1 when it is not that. */
static int64_t decimal(struct slice text, size_t max_digits)
{
    int64_t number = 0;
    if (text.len == 0 || text.len > max_digits) {
        return -1;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return -1;
        }
        number = number * 10 + (text.ptr[i] - '0');
    }
    return number;
}

bool grpc_is_informational(const struct headers *headers)
{
    const struct slice status = headers_get(headers, ":status");
    return status.len == 3 && status.ptr[0] == '1';
}

bool grpc_read_response(const struct headers *headers, unsigned *http_status_out, struct error *err)
{
    if (headers->overflowed) {
        return error_set(err, ERROR_RESOURCE_EXHAUSTED,
                         "the header fields of the answer exceed %zu bytes", headers->limit);
    }
    const int64_t status = decimal(headers_get(headers, ":status"), 3);
    *http_status_out = status < 0 ? 0 : (unsigned)status;
    const struct slice type = headers_get(headers, "content-type");
    if (*http_status_out == 200 && is_grpc(type)) {
        return true;
    }
    if (headers_get(headers, "grpc-status").ptr != NULL) {
        return true; /* the gRPC status says more */
    }
    return error_set(err, grpc_code_of_http(*http_status_out),
                     "the answer is no gRPC: HTTP status %u, content-type \"%.*s\"",
                     *http_status_out, SLICE_ARG(type));
}

bool grpc_read_status(const struct headers *trailers, unsigned http_status, struct error *status)
{
    if (trailers->overflowed) {
        return error_set(status, ERROR_RESOURCE_EXHAUSTED,
                         "the trailers of the answer exceed %zu bytes", trailers->limit);
    }
    const struct slice code = headers_get(trailers, "grpc-status");
    if (code.ptr == NULL) {
        return error_set(status, grpc_code_of_http(http_status),
                         "the answer ended without a grpc-status (HTTP status %u)", http_status);
    }
    const int64_t number = decimal(code, 9);
    if (number < 0) {
        return error_set(status, ERROR_UNKNOWN, "malformed grpc-status: \"%.*s\"", SLICE_ARG(code));
    }
    status->code = number > ERROR_UNAUTHENTICATED ? ERROR_UNKNOWN : (enum error_code)number;
    status->text[0] = '\0';
    if (status->code != ERROR_NONE) {
        grpc_decode_text(headers_get(trailers, "grpc-message"), status->text, sizeof status->text);
        if (status->text[0] == '\0') {
            error_set(status, status->code, "the peer gave no reason");
        }
    }
    return true;
}

void grpc_write_prefix(uint8_t prefix[GRPC_PREFIX_BYTES], uint32_t len)
{
    prefix[0] = 0;
    prefix[1] = (uint8_t)(len >> 24);
    prefix[2] = (uint8_t)(len >> 16);
    prefix[3] = (uint8_t)(len >> 8);
    prefix[4] = (uint8_t)len;
}

/* Timeouts */

static const struct {
    char letter;
    uint64_t ns;
} units[] = {
    {'n', 1},
    {'u', 1000},
    {'m', 1000000},
    {'S', NS_PER_S},
    {'M', 60ull * NS_PER_S},
    {'H', 3600ull * NS_PER_S},
};
#define UNITS (sizeof units / sizeof units[0])

/* Nanoseconds of one unit; 0: no unit has this letter. */
static uint64_t unit_ns(uint8_t letter)
{
    for (size_t i = 0; i < UNITS; i++) {
        if (units[i].letter == (char)letter) {
            return units[i].ns;
        }
    }
    return 0;
}

bool grpc_parse_timeout(struct slice text, uint64_t *ns_out)
{
    if (text.len < 2) {
        return false;
    }
    const int64_t number = decimal(slice_of(text.ptr, text.len - 1), 8);
    const uint64_t unit = unit_ns(text.ptr[text.len - 1]);
    if (number < 0 || unit == 0) {
        return false;
    }
    if (__builtin_mul_overflow((uint64_t)number, unit, ns_out)) {
        *ns_out = UINT64_MAX;
    }
    return true;
}

void grpc_format_timeout(uint64_t ns, char text_out[GRPC_TIMEOUT_CHARS])
{
    for (size_t i = 0; i < UNITS; i++) {
        const uint64_t number = ns / units[i].ns + (ns % units[i].ns != 0);
        if (number <= 99999999) {
            (void)snprintf(text_out, GRPC_TIMEOUT_CHARS, "%u%c", (unsigned)number, units[i].letter);
            return;
        }
    }
}

/* Texts */

static bool is_plain(uint8_t byte)
{
    return byte >= 0x20 && byte <= 0x7E && byte != '%';
}

size_t grpc_encode_text(const char *text, char text_out[GRPC_TEXT_CHARS + 1])
{
    static const char digits[] = "0123456789ABCDEF";
    size_t len = 0;
    size_t whole = 0; /* up to the last character that is complete */
    for (const char *at = text; *at != '\0'; at++) {
        const uint8_t byte = (uint8_t)*at;
        const bool continues = (byte & 0xC0) == 0x80;
        whole = continues ? whole : len;
        if (len + (is_plain(byte) ? 1 : 3) > GRPC_TEXT_CHARS) {
            len = whole;
            break;
        }
        if (is_plain(byte)) {
            text_out[len++] = (char)byte;
        } else {
            text_out[len++] = '%';
            text_out[len++] = digits[byte >> 4];
            text_out[len++] = digits[byte & 15];
        }
    }
    text_out[len] = '\0';
    return len;
}

static int hex(uint8_t digit)
{
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    const uint8_t lower = digit | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The byte that "%XX" at the front stands for; -1: it is no escape. */
static int escaped(struct slice text)
{
    if (text.len < 3 || text.ptr[0] != '%') {
        return -1;
    }
    const int high = hex(text.ptr[1]);
    const int low = hex(text.ptr[2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

void grpc_decode_text(struct slice encoded, char *text_out, size_t capacity)
{
    size_t len = 0;
    while (encoded.len > 0 && len + 1 < capacity) {
        const int byte = escaped(encoded);
        const size_t used = byte < 0 ? 1 : 3;
        text_out[len++] = (char)(byte < 0 ? encoded.ptr[0] : byte);
        encoded = slice_of(encoded.ptr + used, encoded.len - used);
    }
    text_out[len] = '\0';
}

/* Codes */

enum error_code grpc_code_of_reset(uint32_t http2_code)
{
    switch (http2_code) {
    case 0x7: /* REFUSED_STREAM: nothing was done, a retry is safe */
        return ERROR_UNAVAILABLE;
    case 0x8: /* CANCEL */
        return ERROR_CANCELLED;
    case 0xb: /* ENHANCE_YOUR_CALM */
        return ERROR_RESOURCE_EXHAUSTED;
    case 0xc: /* INADEQUATE_SECURITY */
        return ERROR_PERMISSION_DENIED;
    default: /* a number from outside */
        return ERROR_INTERNAL;
    }
}

enum error_code grpc_code_of_http(unsigned http_status)
{
    switch (http_status) {
    case 400:
        return ERROR_INTERNAL;
    case 401:
        return ERROR_UNAUTHENTICATED;
    case 403:
        return ERROR_PERMISSION_DENIED;
    case 404:
        return ERROR_UNIMPLEMENTED;
    case 429:
    case 502:
    case 503:
    case 504:
        return ERROR_UNAVAILABLE;
    default: /* a number from outside */
        return ERROR_UNKNOWN;
    }
}
