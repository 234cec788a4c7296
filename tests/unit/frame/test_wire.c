// SPDX-License-Identifier: Apache-2.0
/* The reader: each kind of value, and each way in which bytes may be broken. */
#include "frame/wire.h"
#include "tests/support/frame_test.h"
#include "tests/unit/frame/unit.h"

static struct slice bytes_of(const char *hex, uint8_t *into)
{
    return slice_of(into, hex_bytes(hex, into, 256));
}

START_TEST(uvarints)
{
    static const struct {
        const char *hex;
        bool good;
        uint64_t value;
    } table[] = {
        {"00", true, 0},
        {"7f", true, 127},
        {"8001", true, 128},
        {"8000", true, 0}, /* longer than needed is for the caller to judge */
        {"ffffffffffffffffff01", true, UINT64_MAX},
        {"ffffffffffffffffff02", false, 0}, /* 65 bits */
        {"8080808080808080808001", false, 0},
        {"", false, 0},
        {"80", false, 0},
        {"ffffffffffffffffff", false, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint8_t buf[256];
        struct slice bytes = bytes_of(table[i].hex, buf);
        struct wire wire = wire_of(bytes);
        uint64_t value = 0;
        ck_assert_msg(wire_uvarint(&wire, &value) == table[i].good, "row %zu", i);
        ck_assert_uint_eq(wire_left(&wire), table[i].good ? 0 : bytes.len);
        ck_assert_uint_eq(value, table[i].value);
    }
}
END_TEST

START_TEST(takes)
{
    struct wire wire = wire_of(slice_of("abc", 3));
    uint8_t byte = 0;
    struct slice bytes = {0};
    ck_assert(wire_u8(&wire, &byte) && byte == 'a');
    ck_assert(!wire_take(&wire, 3, &bytes));
    ck_assert(!wire_take(&wire, SIZE_MAX, &bytes));
    ck_assert(wire_take(&wire, 2, &bytes) && slice_equal(bytes, slice_str("bc")));
    ck_assert(wire_take(&wire, 0, &bytes) && bytes.len == 0);
    ck_assert(!wire_u8(&wire, &byte));
    wire = wire_of((struct slice){0});
    ck_assert_uint_eq(wire_left(&wire), 0);
    ck_assert(wire_take(&wire, 0, &bytes));
}
END_TEST

START_TEST(fields)
{
    uint8_t buf[256];
    struct wire wire =
        wire_of(bytes_of("0896 01 12 03616263 19 0102030405060708 25 01020304 1200", buf));
    struct wire_field field;
    ck_assert(wire_next(&wire, &field) == WIRE_FIELD);
    ck_assert(field.number == 1 && field.type == WIRE_VARINT && field.value == 150);
    ck_assert(wire_next(&wire, &field) == WIRE_FIELD);
    ck_assert(field.number == 2 && slice_equal(field.bytes, slice_str("abc")));
    ck_assert(wire_next(&wire, &field) == WIRE_FIELD);
    ck_assert(field.type == WIRE_FIXED64 && field.value == UINT64_C(0x0807060504030201));
    ck_assert(wire_next(&wire, &field) == WIRE_FIELD);
    ck_assert(field.type == WIRE_FIXED32 && field.value == 0x04030201);
    ck_assert(wire_next(&wire, &field) == WIRE_FIELD);
    ck_assert(field.type == WIRE_BYTES && field.bytes.len == 0);
    ck_assert(wire_next(&wire, &field) == WIRE_END);
    ck_assert(wire_next(&wire, &field) == WIRE_END);
}
END_TEST

/* What the first call says of these bytes. */
START_TEST(first_results)
{
    static const struct {
        const char *hex;
        enum wire_result result;
        const char *why;
    } table[] = {
        {"", WIRE_END, "nothing"},
        {"00 00", WIRE_BROKEN, "field number 0"},
        {"fa ff ff ff 0f 00", WIRE_FIELD, "the greatest field number"},
        {"82 80 80 80 10 00", WIRE_BROKEN, "a field number above it"},
        {"0e", WIRE_BROKEN, "wire type 6"},
        {"0f", WIRE_BROKEN, "wire type 7"},
        {"0c", WIRE_BROKEN, "an end of no group"},
        {"08", WIRE_BROKEN, "no varint"},
        {"0a 02 61", WIRE_BROKEN, "bytes past the end"},
        {"0a ffffffffffffffffff01", WIRE_BROKEN, "bytes of 2^64-1"},
        {"09 01020304050607", WIRE_BROKEN, "short fixed64"},
        {"0d 010203", WIRE_BROKEN, "short fixed32"},
        {"0b 0c", WIRE_END, "an empty group"},
        {"0b 13 1801 14 0c 0801", WIRE_FIELD, "nested groups, then a field"},
        {"0b 14", WIRE_BROKEN, "a group closed by another number"},
        {"0b 13 0c", WIRE_BROKEN, "an inner group left open"},
        {"0b 08", WIRE_BROKEN, "a group cut inside a field"},
        {"0b", WIRE_BROKEN, "a group that does not close"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint8_t buf[256];
        struct placed placed = place_bytes(bytes_of(table[i].hex, buf), i % 8);
        struct wire wire = wire_of(placed.bytes);
        struct wire_field field;
        ck_assert_msg(wire_next(&wire, &field) == table[i].result, "%s", table[i].why);
        free(placed.block);
    }
}
END_TEST

START_TEST(groups_nest_to_a_limit)
{
    for (size_t depth = 99; depth <= 102; depth++) {
        uint8_t buf[256];
        memset(buf, 0x0B, depth);
        memset(buf + depth, 0x0C, depth);
        struct wire wire = wire_of(slice_of(buf, 2 * depth));
        struct wire_field field;
        ck_assert(wire_next(&wire, &field) == (depth <= 100 ? WIRE_END : WIRE_BROKEN));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wire");
    TCase *tcase = tcase_create("wire");
    tcase_add_test(tcase, uvarints);
    tcase_add_test(tcase, takes);
    tcase_add_test(tcase, fields);
    tcase_add_test(tcase, first_results);
    tcase_add_test(tcase, groups_nest_to_a_limit);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
