// SPDX-License-Identifier: Apache-2.0
/* Envelopes: what is found in whole messages, what a short head tells, what is refused. */
#include "frame/envelope.h"
#include "tests/support/frame_test.h"
#include "tests/unit/frame/unit.h"

static struct slice bytes_of(const char *hex, uint8_t *into)
{
    return slice_of(into, hex_bytes(hex, into, 256));
}

START_TEST(send_responses)
{
    uint8_t buf[256];
    struct envelope envelope;
    struct error err;
    struct slice bytes = bytes_of("08 ac02 12 02 6e6f 1a 03 005646 20 ffffffffffffffffff01 "
                                  "2a 02 0801 92 01 01 61",
                                  buf);
    ck_assert(envelope_read(bytes, &envelope, &err));
    ck_assert_uint_eq(envelope.message_id, 300);
    ck_assert_int_eq(envelope.status, -1);
    ck_assert(slice_equal(envelope.error, slice_str("no")));
    ck_assert(slice_equal(envelope.body, slice_of("\0VF", 3)));
    ck_assert(envelope_read((struct slice){0}, &envelope, &err));
    ck_assert_uint_eq(envelope.body.len, 0);
}
END_TEST

START_TEST(the_last_of_two_counts)
{
    uint8_t buf[256];
    struct envelope envelope;
    struct answer answer;
    ck_assert(envelope_read(bytes_of("08 01 1a 01 61 08 02 1a 01 62", buf), &envelope, NULL));
    ck_assert_uint_eq(envelope.message_id, 2);
    ck_assert(slice_equal(envelope.body, slice_str("b")));
    ck_assert(
        envelope_answer(bytes_of("12 02 1801 1a 01 61 12 02 1800 1a 01 62", buf), &answer, NULL));
    ck_assert(slice_equal(answer.frame, slice_str("b")));
    ck_assert(!answer.trace_error);
}
END_TEST

START_TEST(answers)
{
    static const struct {
        const char *hex;
        size_t frame_len;
        size_t trace_len;
        bool trace_error;
        bool has_points;
    } table[] = {
        {"", 0, 0, false, false},
        {"00 01 02", 3, 0, false, false},
        {"1a 02 0056", 2, 0, false, false},
        {"12 02 1801", 0, 2, true, false},
        {"12 05 0a 03 616263 1a 01 00", 1, 5, false, false},
        {"0a 00", 0, 0, false, true},
        {"12 00 1a 00", 0, 0, false, false},
        {"22 01 61 28 05", 0, 0, false, false}, /* unknown fields */
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint8_t buf[256];
        struct placed placed = place_bytes(bytes_of(table[i].hex, buf), i % 8);
        struct answer answer;
        ck_assert_msg(envelope_answer(placed.bytes, &answer, NULL), "row %zu", i);
        ck_assert_uint_eq(answer.frame.len, table[i].frame_len);
        ck_assert_uint_eq(answer.trace.len, table[i].trace_len);
        ck_assert(answer.trace_error == table[i].trace_error);
        ck_assert(answer.has_points == table[i].has_points);
        free(placed.block);
    }
}
END_TEST

START_TEST(refusals)
{
    static const struct {
        const char *hex;
        bool answer; /* else a SendResponse */
        const char *text;
    } table[] = {
        {"0a 00", false, "SendResponse field 1: wire type 2 found, 0 expected"},
        {"10 01", false, "SendResponse field 2: wire type 0 found, 2 expected"},
        {"18 01", false, "SendResponse field 3: wire type 0 found, 2 expected"},
        {"22 00", false, "SendResponse field 4: wire type 2 found, 0 expected"},
        {"2d 00000000", false, "SendResponse field 5: wire type 5 found, 2 expected"},
        {"08 01 1a 03 0056", false, "SendResponse of 6 bytes: no complete protobuf field"},
        {"02 00", false, "SendResponse of 2 bytes: no complete protobuf field"},
        {"08 01", true, "InternalQueryResponse field 1: wire type 0 found, 2 expected"},
        {"1a 05 00", true, "InternalQueryResponse of 3 bytes: no complete protobuf field"},
        {"12 02 1a00", true, "Trace field 3: wire type 2 found, 0 expected"},
        {"12 02 0a05", true, "Trace of 2 bytes: no complete protobuf field"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint8_t buf[256];
        struct slice bytes = bytes_of(table[i].hex, buf);
        struct envelope envelope;
        struct answer answer;
        struct error err = {0};
        ck_assert(!(table[i].answer ? envelope_answer(bytes, &answer, &err)
                                    : envelope_read(bytes, &envelope, &err)));
        ck_assert_int_eq(err.code, ERROR_DATA_LOSS);
        ck_assert_msg(strstr(err.text, table[i].text) != NULL, "%s, not %s", err.text,
                      table[i].text);
    }
}
END_TEST

START_TEST(landings)
{
    static const struct {
        const char *hex;
        enum landing landing;
        size_t offset;
    } table[] = {
        {"", LANDING_UNKNOWN, 0},
        {"08", LANDING_UNKNOWN, 0},
        {"08 ac", LANDING_UNKNOWN, 0},
        {"08 ac02", LANDING_UNKNOWN, 0},
        {"08 ac02 1a", LANDING_UNKNOWN, 0},
        {"08 ac02 1a 80", LANDING_UNKNOWN, 0},
        {"08 ac02 1a 8001", LANDING_UNKNOWN, 0},
        {"08 ac02 1a 8001 00", LANDING_KNOWN, 6}, /* a bare frame */
        {"1a 8001 00", LANDING_KNOWN, 3},
        {"1a 05 1a", LANDING_UNKNOWN, 0},
        {"1a 05 1a 83", LANDING_UNKNOWN, 0},
        {"1a 05 1a 03", LANDING_KNOWN, 4},        /* the frame inside an InternalQueryResponse */
        {"1a 05 12 03", LANDING_KNOWN, 2},        /* a trace first: the body itself */
        {"1a 05 0a", LANDING_KNOWN, 2},           /* a TopNResponse */
        {"1a 00", LANDING_NONE, 0},               /* an empty body */
        {"20 07 1a 05 00", LANDING_KNOWN, 4},     /* status before the body */
        {"12 05 68656c6c6f", LANDING_NONE, 0},    /* an error text */
        {"2a 05", LANDING_NONE, 0},               /* a version reply */
        {"0b", LANDING_NONE, 0},                  /* a group */
        {"1d 00", LANDING_NONE, 0},               /* body as fixed32 */
        {"ffffffffffffffffffff", LANDING_NONE, 0} /* no varint at all */
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint8_t buf[256];
        struct placed placed = place_bytes(bytes_of(table[i].hex, buf), 0);
        size_t offset = 0;
        ck_assert_msg(envelope_landing(placed.bytes, &offset) == table[i].landing, "row %zu", i);
        if (table[i].landing == LANDING_KNOWN) {
            ck_assert_uint_eq(offset, table[i].offset);
        }
        free(placed.block);
    }
}
END_TEST

/* Once known, a longer head tells the same. */
START_TEST(landings_are_final)
{
    uint8_t buf[256];
    struct slice bytes = bytes_of("08 ac02 20 01 1a 20 1a 8001 00 5646520400000000000000", buf);
    bool known = false;
    for (size_t len = 0; len <= bytes.len; len++) {
        size_t offset = 0;
        enum landing landing = envelope_landing(slice_of(bytes.ptr, len), &offset);
        ck_assert(landing == (len >= 10 ? LANDING_KNOWN : LANDING_UNKNOWN));
        known = landing == LANDING_KNOWN;
        ck_assert(!known || offset == 10);
    }
    ck_assert(known);
}
END_TEST

/* Messages of many fields or groups: `unit`, so often, and one field of two bytes. */
static bool reads_many(const char *unit, size_t count, struct error *err)
{
    uint8_t one[16];
    const struct slice part = bytes_of(unit, one);
    const size_t len = count * part.len + 2;
    uint8_t *bytes = malloc(len);
    for (size_t i = 0; i < count; i++) {
        memcpy(bytes + i * part.len, part.ptr, part.len);
    }
    memcpy(bytes + len - 2, (uint8_t[]){0x20, 0x01}, 2);
    struct envelope envelope;
    const bool good = envelope_read(slice_of(bytes, len), &envelope, err);
    ck_assert(!good || envelope.status == 1);
    free(bytes);
    return good;
}

START_TEST(no_walk_is_endless)
{
    struct error err;
    ck_assert(reads_many("3001", (1 << 19) - 1, &err));
    ck_assert(!reads_many("3001", 1 << 19, &err));
    ck_assert_int_eq(err.code, ERROR_DATA_LOSS);
    ck_assert_str_eq(err.text, "SendResponse of 1048578 bytes: more than 524288 fields found");
    ck_assert(reads_many("3334", 65536, &err));
    ck_assert(!reads_many("3334", 65537, &err));
    ck_assert(reads_many("33 0801 0801 0801 34", 65536 / 4, &err));
    ck_assert(!reads_many("33 0801 0801 0801 34", 65536 / 4 + 1, &err));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("envelope");
    TCase *tcase = tcase_create("envelope");
    tcase_add_test(tcase, send_responses);
    tcase_add_test(tcase, the_last_of_two_counts);
    tcase_add_test(tcase, answers);
    tcase_add_test(tcase, refusals);
    tcase_add_test(tcase, no_walk_is_endless);
    tcase_add_test(tcase, landings);
    tcase_add_test(tcase, landings_are_final);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
