// SPDX-License-Identifier: Apache-2.0
/* The forms in which gRPC writes things into headers: tables of inputs and what they mean. */
#include "liaison/http2/grpc.h"
#include "tests/unit/frame/unit.h"

#define LEN(list) (sizeof(list) / sizeof((list)[0]))

/* Timeouts */

static const struct {
    const char *text;
    uint64_t ns;
} timeouts[] = {
    {"1n", 1},
    {"0S", 0},
    {"250u", 250000},
    {"99999999m", 99999999000000},
    {"1S", 1000000000},
    {"2M", 120000000000},
    {"00000001H", 3600000000000},
    {"99999999H", UINT64_MAX}, /* 11,000 years: more than fits */
};

static const char *const no_timeouts[] = {"",    "n",    "1",    "123456789S", "1s",  "1h",
                                          "-1S", "+1S",  "1 S",  " 1S",        "1S ", "S1",
                                          "1SS", "1.5S", "0x1S", "1\xC2",      "m1m"};

START_TEST(timeouts_are_read)
{
    for (size_t i = 0; i < LEN(timeouts); i++) {
        uint64_t ns = 7;
        ck_assert_msg(grpc_parse_timeout(slice_str(timeouts[i].text), &ns), "%s", timeouts[i].text);
        ck_assert_msg(ns == timeouts[i].ns, "%s: %llu", timeouts[i].text, (unsigned long long)ns);
    }
    for (size_t i = 0; i < LEN(no_timeouts); i++) {
        uint64_t ns;
        ck_assert_msg(!grpc_parse_timeout(slice_str(no_timeouts[i]), &ns), "%s", no_timeouts[i]);
    }
}
END_TEST

static const struct {
    uint64_t ns;
    const char *text;
} formats[] = {
    {0, "0n"},
    {99999999, "99999999n"},
    {100000000, "100000u"},
    {100000001, "100001u"},
    {15000000000, "15000000u"},
    {99999999000, "99999999u"},
    {100000000000, "100000m"},
    {UINT64_MAX, "5124096H"},
};

START_TEST(timeouts_are_written_and_never_too_short)
{
    char text[GRPC_TIMEOUT_CHARS];
    for (size_t i = 0; i < LEN(formats); i++) {
        grpc_format_timeout(formats[i].ns, text);
        ck_assert_str_eq(text, formats[i].text);
    }
    for (uint64_t ns = 1; ns < UINT64_MAX / 3; ns = ns * 3 + 1) {
        uint64_t back = 0;
        grpc_format_timeout(ns, text);
        ck_assert(grpc_parse_timeout(slice_str(text), &back));
        ck_assert_msg(back >= ns && back - ns <= ns / 100000, "%s", text);
    }
}
END_TEST

/* Texts */

static const struct {
    const char *plain;
    const char *encoded;
} texts[] = {
    {"", ""},
    {"plain ~ text", "plain ~ text"},
    {"100 %", "100 %25"},
    {"a\nb\tc\x7f", "a%0Ab%09c%7F"},
    {"caf\xc3\xa9", "caf%C3%A9"},
    {"\xff", "%FF"},
};

START_TEST(texts_survive_both_ways)
{
    char encoded[GRPC_TEXT_CHARS + 1];
    char back[100];
    for (size_t i = 0; i < LEN(texts); i++) {
        ck_assert_uint_eq(grpc_encode_text(texts[i].plain, encoded), strlen(texts[i].encoded));
        ck_assert_str_eq(encoded, texts[i].encoded);
        grpc_decode_text(slice_str(encoded), back, sizeof back);
        ck_assert_str_eq(back, texts[i].plain);
    }
}
END_TEST

START_TEST(texts_are_cut_between_characters)
{
    static const char *const units[] = {"a", "%", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    char plain[20000];
    char encoded[GRPC_TEXT_CHARS + 1];
    char back[GRPC_TEXT_CHARS + 1];
    for (size_t i = 0; i < LEN(units); i++) {
        const size_t unit = strlen(units[i]);
        for (size_t at = 0; at + unit < sizeof plain; at += unit) {
            memcpy(plain + at, units[i], unit + 1);
        }
        const size_t len = grpc_encode_text(plain, encoded);
        ck_assert_uint_le(len, GRPC_TEXT_CHARS);
        ck_assert_uint_gt(len, GRPC_TEXT_CHARS - 12);
        grpc_decode_text(slice_str(encoded), back, sizeof back);
        ck_assert_uint_eq(strlen(back) % unit, 0);
        ck_assert(memcmp(back, plain, strlen(back)) == 0);
    }
}
END_TEST

START_TEST(odd_escapes_stay)
{
    char back[32];
    grpc_decode_text(slice_str("%4a%4A%g1%1"), back, sizeof back);
    ck_assert_str_eq(back, "JJ%g1%1");
    grpc_decode_text(slice_str("%"), back, sizeof back);
    ck_assert_str_eq(back, "%");
    grpc_decode_text(slice_str("0123456789"), back, 5);
    ck_assert_str_eq(back, "0123");
    grpc_decode_text(slice_of(NULL, 0), back, sizeof back);
    ck_assert_str_eq(back, "");
}
END_TEST

/* Requests */

static void add_all(struct headers *headers, const char *const *pairs)
{
    headers_init(headers, 4096, NULL);
    for (; pairs[0] != NULL; pairs += 2) {
        headers_add(headers, slice_str(pairs[0]), slice_str(pairs[1]));
    }
}

#define PAIRS(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static const struct {
    const char *const *pairs;
    unsigned http_status;
    enum error_code code; /* NONE: accepted */
} requests[] = {
    {PAIRS(":method", "POST", "content-type", "application/grpc"), 200, ERROR_NONE},
    {PAIRS(":method", "POST", "content-type", "application/grpc+proto"), 200, ERROR_NONE},
    {PAIRS(":method", "POST", "content-type", "application/grpc; a=b"), 200, ERROR_NONE},
    {PAIRS(":method", "POST", "content-type", "application/grpcs"), 415, ERROR_INVALID_ARGUMENT},
    {PAIRS(":method", "POST", "content-type", "application/grpc;a=b"), 200, ERROR_NONE},
    {PAIRS(":method", "POST", "content-type", "application/grpc-web"), 415, ERROR_INVALID_ARGUMENT},
    {PAIRS(":method", "POST", "content-type", "application/json"), 415, ERROR_INVALID_ARGUMENT},
    {PAIRS(":method", "POST"), 415, ERROR_INVALID_ARGUMENT},
    {PAIRS(":method", "GET", "content-type", "application/grpc"), 405, ERROR_INTERNAL},
    {PAIRS("content-type", "application/grpc"), 405, ERROR_INTERNAL},
    {PAIRS(":method", "POST", "content-type", "application/grpc", "grpc-timeout", "1"), 200,
     ERROR_INTERNAL},
    {PAIRS(":method", "POST", "content-type", "application/grpc", "grpc-timeout", "1S"), 200,
     ERROR_NONE},
};

START_TEST(requests_are_checked)
{
    for (size_t i = 0; i < LEN(requests); i++) {
        struct headers headers;
        struct grpc_request request;
        struct error err = {.code = ERROR_NONE};
        add_all(&headers, requests[i].pairs);
        const bool good = grpc_read_request(&headers, &request, &err);
        ck_assert_msg(good == (requests[i].code == ERROR_NONE), "%zu: %s", i, err.text);
        ck_assert_uint_eq(request.http_status, requests[i].http_status);
        ck_assert_int_eq(err.code, requests[i].code);
        headers_fini(&headers);
    }
}
END_TEST

START_TEST(requests_are_taken_apart)
{
    struct headers headers;
    struct grpc_request request;
    add_all(&headers, PAIRS(":method", "POST", ":path", "/a.B/C", "host", "h:1", "content-type",
                            "application/grpc", "grpc-encoding", "gzip", "grpc-timeout", "5m"));
    ck_assert(grpc_read_request(&headers, &request, NULL));
    ck_assert(slice_equal(request.path, slice_str("/a.B/C")));
    ck_assert(slice_equal(request.authority, slice_str("h:1")));
    ck_assert(slice_equal(request.encoding, slice_str("gzip")));
    ck_assert(request.has_timeout);
    ck_assert_uint_eq(request.timeout_ns, 5000000);
    headers_fini(&headers);
    add_all(&headers, PAIRS(":method", "POST", ":authority", "a", "host", "h", "content-type",
                            "application/grpc", "grpc-encoding", "identity"));
    ck_assert(grpc_read_request(&headers, &request, NULL));
    ck_assert(slice_equal(request.authority, slice_str("a")));
    ck_assert_uint_eq(request.encoding.len, 0);
    ck_assert(!request.has_timeout);
    headers_fini(&headers);
}
END_TEST

/* Codes */

static const struct {
    unsigned number;
    enum error_code code;
} resets[] =
    {
        {0x0, ERROR_INTERNAL},           {0x1, ERROR_INTERNAL},          {0x2, ERROR_INTERNAL},
        {0x3, ERROR_INTERNAL},           {0x7, ERROR_UNAVAILABLE},       {0x8, ERROR_CANCELLED},
        {0xb, ERROR_RESOURCE_EXHAUSTED}, {0xc, ERROR_PERMISSION_DENIED}, {0x4711, ERROR_INTERNAL},
},
  statuses[] = {
      {400, ERROR_INTERNAL},      {401, ERROR_UNAUTHENTICATED}, {403, ERROR_PERMISSION_DENIED},
      {404, ERROR_UNIMPLEMENTED}, {429, ERROR_UNAVAILABLE},     {500, ERROR_UNKNOWN},
      {502, ERROR_UNAVAILABLE},   {503, ERROR_UNAVAILABLE},     {504, ERROR_UNAVAILABLE},
      {200, ERROR_UNKNOWN},       {0, ERROR_UNKNOWN},
};

START_TEST(codes_are_mapped)
{
    for (size_t i = 0; i < LEN(resets); i++) {
        ck_assert_int_eq(grpc_code_of_reset(resets[i].number), resets[i].code);
    }
    for (size_t i = 0; i < LEN(statuses); i++) {
        ck_assert_int_eq(grpc_code_of_http(statuses[i].number), statuses[i].code);
    }
}
END_TEST

static const struct {
    const char *const *pairs;
    enum error_code code;
    const char *text;
    bool theirs;
} ends[] = {
    {PAIRS("grpc-status", "0"), ERROR_NONE, "", true},
    {PAIRS("grpc-status", "0", "grpc-message", "ignored"), ERROR_NONE, "", true},
    {PAIRS("grpc-status", "3", "grpc-message", "a%20b"), ERROR_INVALID_ARGUMENT, "a b", true},
    {PAIRS("grpc-status", "16"), ERROR_UNAUTHENTICATED, "the peer gave no reason", true},
    {PAIRS("grpc-status", "17", "grpc-message", "new"), ERROR_UNKNOWN, "new", true},
    {PAIRS("grpc-status", "-1"), ERROR_UNKNOWN, "malformed grpc-status: \"-1\"", false},
    {PAIRS("grpc-status", "4294967296000"), ERROR_UNKNOWN,
     "malformed grpc-status: \"4294967296000\"", false},
    {PAIRS("x", "y"), ERROR_UNAVAILABLE, "the answer ended without a grpc-status (HTTP status 503)",
     false},
};

START_TEST(ends_are_read)
{
    for (size_t i = 0; i < LEN(ends); i++) {
        struct headers trailers;
        struct error status;
        add_all(&trailers, ends[i].pairs);
        const bool theirs = grpc_read_status(&trailers, 503, &status);
        ck_assert_int_eq(status.code, ends[i].code);
        ck_assert_str_eq(status.text, ends[i].text);
        ck_assert_int_eq(theirs, ends[i].theirs);
        headers_fini(&trailers);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("grpc");
    TCase *cases = tcase_create("grpc");
    tcase_add_test(cases, timeouts_are_read);
    tcase_add_test(cases, timeouts_are_written_and_never_too_short);
    tcase_add_test(cases, texts_survive_both_ways);
    tcase_add_test(cases, texts_are_cut_between_characters);
    tcase_add_test(cases, odd_escapes_stay);
    tcase_add_test(cases, requests_are_checked);
    tcase_add_test(cases, requests_are_taken_apart);
    tcase_add_test(cases, codes_are_mapped);
    tcase_add_test(cases, ends_are_read);
    suite_add_tcase(suite, cases);
    return unit_run(suite);
}
