// SPDX-License-Identifier: Apache-2.0
/* What the first bytes of an answer tell of its rows: the number that decoding it gives, or
 * nothing. */
#include "frame/decode.h"
#include "frame/rows.h"
#include "tests/support/frame_builder.h"
#include "tests/support/frame_random.h"
#include "tests/support/frame_test.h"
#include "tests/unit/frame/unit.h"

#define BOTH       (DECODE_V3 | DECODE_V4)
#define HEAD_BYTES 64 /* what the inbox keeps of a message */

enum wrapping { BARE, INTERNAL, BEHIND_A_TRACE };

/* A SendResponse with the frame, to be freed. */
static struct slice response_with(struct slice frame, uint64_t message_id, enum wrapping wrapping)
{
    const struct slice trace = wrapping == BEHIND_A_TRACE ? slice_str("\x0a\x01t") : slice_str("");
    size_t inner_len;
    size_t len;
    uint8_t *inner = frame_builder_internal_response(trace, frame, &inner_len);
    const struct slice body = wrapping == BARE ? frame : slice_of(inner, inner_len);
    uint8_t *bytes = frame_builder_send_response(message_id, (struct slice){0}, body, &len);
    free(inner);
    return slice_of(bytes, len);
}

static size_t told(struct slice bytes, size_t len, unsigned accepted)
{
    struct placed placed = place_bytes(slice_of(bytes.ptr, len), len % 8); /* nothing behind it */
    const size_t rows = rows_of_response(placed.bytes, bytes.len, accepted);
    free(placed.block);
    return rows;
}

static void check_response(struct slice bytes, size_t rows, unsigned version, bool tells)
{
    const size_t head_len = bytes.len < HEAD_BYTES ? bytes.len : HEAD_BYTES;
    ck_assert_uint_eq(told(bytes, head_len, BOTH), tells ? rows : 0);
    ck_assert_uint_eq(told(bytes, bytes.len, BOTH), tells ? rows : 0);
    ck_assert_uint_eq(told(bytes, head_len, version == 3 ? DECODE_V4 : DECODE_V3), 0);
    for (size_t cut = 0; cut < head_len; cut++) {
        const size_t seen = told(bytes, cut, BOTH);
        ck_assert(seen == 0 || seen == rows);
    }
}

START_TEST(the_head_tells_what_decoding_gives)
{
    uint64_t seed = 20260301;
    for (size_t round = 0; round < 1000; round++) {
        struct frame_builder *builder = frame_random(&seed, round % 2 == 0 ? 20 : 400);
        const unsigned version = 3 + (unsigned)random_below(&seed, 2);
        size_t len;
        uint8_t *frame = frame_builder_encode(builder, version, &len);
        struct test_room room;
        struct view view;
        test_room_init(&room);
        ck_assert(decode_view(slice_of(frame, len), BOTH, &room.room, &view, NULL));
        ck_assert_uint_eq(decode_rows(slice_of(frame, len), len, BOTH), view.row_count);
        for (enum wrapping wrapping = BARE; wrapping <= BEHIND_A_TRACE; wrapping++) {
            struct slice bytes = response_with(
                slice_of(frame, len), random_next(&seed) >> random_below(&seed, 64), wrapping);
            check_response(bytes, view.row_count, version, wrapping != BEHIND_A_TRACE);
            free((void *)(uintptr_t)bytes.ptr);
        }
        test_room_fini(&room);
        free(frame);
        frame_builder_free(&builder);
    }
}
END_TEST

/* A changed byte may make a count another one; it is not believed where no frame can be so. */
START_TEST(what_decodes_has_the_rows_that_were_told)
{
    uint64_t seed = 4711;
    for (size_t round = 0; round < 20000; round++) {
        struct frame_builder *builder = frame_random(&seed, 10);
        size_t len;
        uint8_t *frame = frame_builder_encode(builder, 3 + (unsigned)random_below(&seed, 2), &len);
        const size_t reach = len < 24 ? len : 24;
        frame[random_below(&seed, reach)] = (uint8_t)random_next(&seed);
        struct test_room room;
        struct view view;
        test_room_init(&room);
        const size_t rows = decode_rows(slice_of(frame, reach), len, BOTH);
        if (decode_view(slice_of(frame, len), BOTH, &room.room, &view, NULL)) {
            ck_assert_uint_eq(rows, view.row_count);
        }
        test_room_fini(&room);
        free(frame);
        frame_builder_free(&builder);
    }
}
END_TEST

static size_t rows_of_hex(const char *hex, size_t len)
{
    uint8_t buf[64];
    return decode_rows(slice_of(buf, hex_bytes(hex, buf, sizeof buf)), len, BOTH);
}

START_TEST(absurd_counts_are_not_told)
{
    static const struct {
        const char *hex;
        size_t len;
        size_t rows;
    } table[] = {
        {"00564652 04 000000 40420f00 05000000", 200, 1000000}, /* constants */
        {"00564652 04 000000 00000002 05000000", 200, 33554432},
        {"00564652 04 000000 01000002 05000000", 200, 0}, /* past the constants' budget */
        {"00564652 04 000000 01000002 05000000", 200000000, 33554433},
        {"00564652 04 000000 ffffffff 05000000", 200000000, 0},
        {"00564652 04 000000 40420f", 200, 0},
        {"00564652 03 c0843d 05", 1000000, 1000000},
        {"00564652 03 c0843d 05", 999999, 0}, /* each row takes a byte */
        {"00564652 03 c084", 1000000, 0},
        {"00564652 05 000000 40420f00 05000000", 200, 0},
        {"00564653 04 000000 40420f00 05000000", 200, 0},
        {"", 200, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        ck_assert_msg(rows_of_hex(table[i].hex, table[i].len) == table[i].rows, "row %zu", i);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rows");
    TCase *tcase = tcase_create("rows");
    tcase_add_test(tcase, the_head_tells_what_decoding_gives);
    tcase_add_test(tcase, what_decodes_has_the_rows_that_were_told);
    tcase_add_test(tcase, absurd_counts_are_not_told);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
