// SPDX-License-Identifier: Apache-2.0
/* What is found before protobuf-c gets the bytes. */
#include "frame/wire.h"
#include "proto/depth.h"
#include "proto/measure.pb-c.h"
#include "proto/pbw.h"
#include "tests/support/frame_random.h"
#include "tests/support/frame_test.h"
#include "tests/unit/frame/unit.h"
#include "tests/unit/proto/sample.h"

#define QUERY (&banyandb__measure__v1__query_request__descriptor)

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, SIZE_MAX, NULL, NULL);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

static bool check(struct slice bytes, struct error *err)
{
    size_t memory;
    return depth_check(bytes, QUERY, &memory, err);
}

/* `inner` as field `number` of the message around it. */
static struct slice wrap(uint32_t number, struct slice inner)
{
    uint8_t *bytes = arena_alloc(&arena, pbw_bytes_size(number, inner.len), 1);
    return slice_of(bytes, (size_t)(pbw_bytes(bytes, number, inner) - bytes));
}

/* A request whose criteria are `levels` deep, the last one holding a condition. */
static struct slice nested(size_t levels)
{
    struct slice bytes = wrap(2, wrap(3, wrap(2, wrap(1, slice_str("x")))));
    for (size_t i = 1; i < levels; i++) {
        bytes = wrap(1, wrap(2, bytes));
    }
    return wrap(4, bytes);
}

START_TEST(criteria)
{
    struct error err = {0};
    ck_assert_msg(check(nested(DEPTH_MAX_CRITERIA), &err), "%s", err.text);
    ck_assert(!check(nested(DEPTH_MAX_CRITERIA + 1), &err));
    ck_assert_int_eq(err.code, ERROR_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.text, "at most 1000 levels of criteria"));
    ck_assert_ptr_nonnull(strstr(err.text, "level 1001 (message 2002) begins at byte "));
}
END_TEST

/* What one level too many looks like to protobuf-c is never tried: it goes on for 100,000 levels.
 */
START_TEST(very_deep)
{
    size_t len = 400000;
    uint8_t *bytes = arena_alloc(&arena, len, 1);
    uint8_t *at = bytes + len;
    while (at - bytes > 8) {
        size_t inner = (size_t)(bytes + len - at);
        at -= 1 + pbw_varint_size(inner);
        *at = (at - bytes) % 2 == 0 ? 0x0a : 0x12;
        pbw_varint(at + 1, inner);
    }
    struct error err = {0};
    struct slice request = wrap(4, slice_of(at, (size_t)(bytes + len - at)));
    ck_assert(!check(request, &err));
}
END_TEST

START_TEST(malformed)
{
    static const struct {
        const char *hex;
        const char *text;
    } table[] = {
        {"0a", "a field in banyandb.measure.v1.QueryRequest, near byte 1)"},
        {"0a0161"
         "1205",
         "a field in banyandb.measure.v1.QueryRequest, near byte 5)"},
        {"00", "a field in banyandb.measure.v1.QueryRequest"},
        {"0f", "a field in banyandb.measure.v1.QueryRequest"},
        {"1a02"
         "0a05",
         "a field in banyandb.model.v1.TimeRange, near byte 4)"},
        {"0805", "groups in banyandb.measure.v1.QueryRequest"},
        {"5a0101", "limit in banyandb.measure.v1.QueryRequest"},
        {"5d00000000", "limit in banyandb.measure.v1.QueryRequest"},
        {"1801", "time_range in banyandb.measure.v1.QueryRequest"},
        {"78ffffffffffffffffffff01", "a field in banyandb.measure.v1.QueryRequest"},
        {"0b", "a field in banyandb.measure.v1.QueryRequest"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint8_t bytes[64];
        struct error err = {0};
        size_t len = hex_bytes(table[i].hex, bytes, sizeof bytes);
        ck_assert_msg(!check(slice_of(bytes, len), &err), "row %zu", i);
        ck_assert_int_eq(err.code, ERROR_INTERNAL);
        ck_assert_ptr_nonnull(strstr(err.text, "grpc: error unmarshalling request: proto: cannot "
                                               "parse invalid wire-format data ("));
        ck_assert_msg(strstr(err.text, table[i].text) != NULL, "row %zu: %s", i, err.text);
    }
}
END_TEST

START_TEST(strings)
{
    struct error err = {0};
    ck_assert(!check(wrap(2, slice_str("a\xff")), &err));
    ck_assert_int_eq(err.code, ERROR_INTERNAL);
    ck_assert_str_eq(err.text,
                     "grpc: error unmarshalling request: string field contains invalid UTF-8");
    ck_assert(!check(wrap(1, slice_of("a\0b", 3)), &err));
    ck_assert_int_eq(err.code, ERROR_INVALID_ARGUMENT);
    ck_assert_str_eq(err.text, "banyandb.measure.v1.QueryRequest.groups contains a NUL character, "
                               "no name has one");
    /* A value may have one; a value that is not UTF-8 is refused like a name. */
    struct slice value = wrap(2, wrap(1, slice_of("a\0b", 3)));
    ck_assert(check(wrap(4, wrap(2, wrap(3, value))), &err));
    value = wrap(3, wrap(1, slice_str("\x80")));
    ck_assert(!check(wrap(4, wrap(2, wrap(3, value))), &err));
    /* Binary data may be anything, unknown fields too. */
    ck_assert(check(wrap(4, wrap(2, wrap(3, wrap(6, slice_str("\xff"))))), &err));
    ck_assert(check(wrap(49, slice_str("\xff")), &err));
}
END_TEST

/* Counts what protobuf-c asks for. */
static void *count_alloc(void *owner, size_t size)
{
    *(size_t *)owner += size;
    return arena_alloc(&arena, size, 16);
}

static void count_free(void *owner, void *pointer)
{
    (void)owner;
    (void)pointer;
}

static void assert_memory(struct slice bytes)
{
    size_t asked = 0;
    size_t memory = 0;
    struct error err = {0};
    ProtobufCAllocator allocator = {count_alloc, count_free, &asked};
    if (!depth_check(bytes, QUERY, &memory, &err)) {
        return;
    }
    (void)protobuf_c_message_unpack(QUERY, &allocator, bytes.len, bytes.ptr);
    ck_assert_msg(asked <= memory, "%zu bytes asked, %zu foreseen", asked, memory);
    ck_assert_uint_le(memory, 512 + 400 * bytes.len);
}

START_TEST(memory)
{
    assert_memory(slice_of("", 0));
    assert_memory(nested(500));
    assert_memory(sample_request(
        "{\"groups\":[\"g\",\"h\",\"\"],\"name\":\"m\",\"stages\":[\"a\",\"b\"],"
        "\"timeRange\":{\"begin\":\"2026-11-30T10:50:00Z\",\"end\":\"2026-11-30T11:15:00Z\"},"
        "\"tagProjection\":{\"tagFamilies\":[{\"name\":\"f\",\"tags\":[\"a\",\"b\",\"c\"]}]},"
        "\"criteria\":{\"condition\":{\"value\":{\"intArray\":{\"value\":[1,2,3,4,5,6,7,8]}}}},"
        "\"groupModRevisions\":{\"g\":1,\"h\":2}}",
        &arena));
    /* Many tiny elements, which is what a hostile request would be made of. */
    uint8_t *bytes = arena_alloc(&arena, 20000, 1);
    for (size_t i = 0; i < 20000; i += 2) {
        bytes[i] = 0x0a;
        bytes[i + 1] = 0;
    }
    assert_memory(slice_of(bytes, 20000));
    for (size_t i = 0; i < 20000; i += 2) {
        bytes[i] = i % 4 == 0 ? 0x0a : 0x12; /* families of a projection, their tags */
    }
    assert_memory(wrap(5, slice_of(bytes, 20000)));
}
END_TEST

/* Requests with bytes changed at random: the same must hold, and protobuf-c must cope with what
 * passed. */
START_TEST(changed_bytes)
{
    uint64_t seed = 11;
    struct slice good = nested(3);
    for (size_t i = 0; i < 20000; i++) {
        struct arena_mark mark = arena_mark(&arena);
        struct slice bytes = arena_copy(&arena, good);
        for (size_t k = random_below(&seed, 4) + 1; k > 0; k--) {
            ((uint8_t *)(uintptr_t)bytes.ptr)[random_below(&seed, bytes.len)] =
                (uint8_t)random_next(&seed);
        }
        assert_memory(bytes);
        arena_rewind(&arena, mark);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("depth");
    TCase *tcase = tcase_create("depth");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, criteria);
    tcase_add_test(tcase, very_deep);
    tcase_add_test(tcase, malformed);
    tcase_add_test(tcase, strings);
    tcase_add_test(tcase, memory);
    tcase_add_test(tcase, changed_bytes);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
