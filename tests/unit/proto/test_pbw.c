// SPDX-License-Identifier: Apache-2.0
#include "frame/wire.h"
#include "proto/pbw.h"
#include "tests/support/frame_random.h"
#include "tests/unit/frame/unit.h"

static void assert_varint(uint64_t value)
{
    uint8_t plain[16];
    uint8_t sized[32];
    memset(sized, 0xAA, sizeof sized);
    size_t size = pbw_varint_size(value);
    ck_assert_ptr_eq(pbw_varint(plain, value), plain + size);
    ck_assert_ptr_eq(pbw_varint_sized(sized, value, size), sized + size);
    ck_assert_int_eq(memcmp(plain, sized, size), 0);
    for (size_t i = size + 8; i < sizeof sized; i++) {
        ck_assert_uint_eq(sized[i], 0xAA);
    }
    struct wire wire = wire_of(slice_of(plain, size));
    uint64_t back = 0;
    ck_assert(wire_uvarint(&wire, &back));
    ck_assert_uint_eq(back, value);
    ck_assert_uint_eq(wire_left(&wire), 0);
}

/* Every number of bits, its neighbours, and some in between. */
START_TEST(varints)
{
    uint64_t seed = 3;
    assert_varint(0);
    assert_varint(UINT64_MAX);
    for (unsigned bits = 0; bits < 64; bits++) {
        uint64_t value = UINT64_C(1) << bits;
        assert_varint(value - 1);
        assert_varint(value);
        assert_varint(value + 1);
        for (size_t i = 0; i < 100; i++) {
            assert_varint(value | (random_next(&seed) & (value - 1)));
        }
    }
}
END_TEST

START_TEST(copies)
{
    uint8_t from[512];
    uint8_t to[512];
    for (size_t i = 0; i < sizeof from; i++) {
        from[i] = (uint8_t)(i * 7 + 1);
    }
    for (size_t len = 0; len < 200; len++) {
        memset(to, 0, sizeof to);
        ck_assert_ptr_eq(pbw_copy_short(to + 3, slice_of(from + 5, len)), to + 3 + len);
        ck_assert_int_eq(memcmp(to + 3, from + 5, len), 0);
        ck_assert_uint_eq(to[2], 0);
        ck_assert_uint_eq(to[3 + len + PBW_SPARE], 0);
    }
    ck_assert_ptr_eq(pbw_copy_short(to, slice_of(NULL, 0)), to);
    ck_assert_ptr_eq(pbw_copy(to, slice_of(NULL, 0)), to);
}
END_TEST

START_TEST(fields)
{
    static const uint32_t numbers[] = {1, 15, 16, 50, 2047, 2048, (1u << 29) - 1};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        uint8_t bytes[512];
        uint8_t text[300] = "x";
        for (size_t len = 0; len < sizeof text; len += 99) {
            uint8_t *end = pbw_bytes(bytes, numbers[i], slice_of(text, len));
            ck_assert_uint_eq(end - bytes, pbw_bytes_size(numbers[i], len));
            struct wire wire = wire_of(slice_of(bytes, (size_t)(end - bytes)));
            struct wire_field field;
            ck_assert_int_eq(wire_next(&wire, &field), WIRE_FIELD);
            ck_assert_uint_eq(field.number, numbers[i]);
            ck_assert_int_eq(field.type, WIRE_BYTES);
            ck_assert(slice_equal(field.bytes, slice_of(text, len)));
            ck_assert_int_eq(wire_next(&wire, &field), WIRE_END);
        }
        ck_assert_uint_eq(pbw_key(bytes, numbers[i], PBW_FIXED64) - bytes,
                          pbw_key_size(numbers[i]));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pbw");
    TCase *tcase = tcase_create("pbw");
    tcase_add_test(tcase, varints);
    tcase_add_test(tcase, copies);
    tcase_add_test(tcase, fields);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
