// SPDX-License-Identifier: Apache-2.0
/*
 * Random frames of every kind of column: what was put in comes out, from both layouts alike, at
 * any place in memory; every truncation is refused; any change gives a clean refusal or a view
 * that can be read; and all that is the same when it is done in shares. The seeds are fixed.
 */
#include "frame/decode.h"
#include "tests/support/frame_builder.h"
#include "tests/support/frame_random.h"
#include "tests/support/frame_test.h"
#include "tests/unit/frame/unit.h"

#define BOTH (DECODE_V3 | DECODE_V4)

/* An encoded frame, placed, and its view. */
struct decoded {
    struct placed placed;
    struct test_room room;
    struct view view;
};

static void decoded_fini(struct decoded *decoded)
{
    test_room_fini(&decoded->room);
    free(decoded->placed.block);
}

static void decode_into(struct decoded *decoded, const struct frame_builder *builder,
                        unsigned version, size_t shift)
{
    size_t len;
    uint8_t *frame = frame_builder_encode(builder, version, &len);
    decoded->placed = place_bytes(slice_of(frame, len), shift);
    free(frame);
    test_room_init(&decoded->room);
    struct error err = {0};
    ck_assert_msg(
        decode_view(decoded->placed.bytes, BOTH, &decoded->room.room, &decoded->view, &err), "%s",
        err.text);
    ck_assert_uint_eq(decoded->view.version, version);
    (void)view_read_all(&decoded->view);
}

static void same(const struct decoded *a, const struct decoded *b)
{
    const char *difference = view_difference(&a->view, &b->view);
    ck_assert_msg(difference == NULL, "%s differs", difference);
}

START_TEST(both_layouts_show_the_same)
{
    uint64_t seed = 20250101;
    for (size_t round = 0; round < 3000; round++) {
        struct frame_builder *builder = frame_random(&seed, 300);
        struct decoded v3;
        struct decoded v4;
        decode_into(&v3, builder, 3, round % 9);
        decode_into(&v4, builder, 4, round % 17);
        same(&v3, &v4);
        struct frame_builder *again = frame_builder_new(v3.view.row_count);
        frame_builder_view(again, &v3.view);
        struct decoded re_encoded;
        decode_into(&re_encoded, again, 4, 0);
        same(&v3, &re_encoded);
        decoded_fini(&re_encoded);
        decoded_fini(&v4);
        decoded_fini(&v3);
        frame_builder_free(&again);
        frame_builder_free(&builder);
    }
}
END_TEST

/* Version 4 keeps constants and null counts too: encoding its view gives the same bytes. */
START_TEST(version_4_is_one_to_one)
{
    uint64_t seed = 77;
    for (size_t round = 0; round < 1000; round++) {
        struct frame_builder *builder = frame_random(&seed, 100);
        struct decoded first;
        struct decoded second;
        decode_into(&first, builder, 4, 0);
        struct frame_builder *again = frame_builder_new(first.view.row_count);
        frame_builder_view(again, &first.view);
        decode_into(&second, again, 4, 0);
        ck_assert(slice_equal(first.placed.bytes, second.placed.bytes));
        decoded_fini(&second);
        decoded_fini(&first);
        frame_builder_free(&again);
        frame_builder_free(&builder);
    }
}
END_TEST

static bool decode_once(struct slice bytes, size_t shift)
{
    struct placed placed = place_bytes(bytes, shift);
    struct test_room room;
    test_room_init(&room);
    struct view view;
    struct error err = {0};
    bool good = decode_view(placed.bytes, BOTH, &room.room, &view, &err);
    if (good) {
        (void)view_read_all(&view);
    } else {
        ck_assert(err.code == ERROR_DATA_LOSS || err.code == ERROR_FAILED_PRECONDITION);
        ck_assert(err.text[0] != '\0');
    }
    ck_assert_uint_le(room.bytes, 64 * bytes.len + 65536);
    test_room_fini(&room);
    free(placed.block);
    return good;
}

START_TEST(truncations_are_refused)
{
    uint64_t seed = 5;
    for (size_t round = 0; round < 60; round++) {
        struct frame_builder *builder = frame_random(&seed, 20);
        size_t len;
        uint8_t *frame = frame_builder_encode(builder, 3 + round % 2, &len);
        for (size_t cut = 0; cut < len; cut++) {
            ck_assert(!decode_once(slice_of(frame, cut), round % 9));
        }
        ck_assert(decode_once(slice_of(frame, len), round % 9));
        free(frame);
        frame_builder_free(&builder);
    }
}
END_TEST

/* One to three changes: a byte, a word of a border value, a piece moved, bytes cut or added. */
static size_t mutate(uint64_t *seed, uint8_t *frame, size_t len)
{
    static const uint32_t words[] = {0,          1,          7,          8,         0x7FFFFFFF,
                                     0x80000000, 0xFFFFFFFF, 0xFFFFFFF8, 0x10000000};
    for (size_t changes = 1 + random_below(seed, 3); changes > 0 && len > 8; changes--) {
        size_t at = random_below(seed, len - 4);
        size_t from = random_below(seed, len - 4);
        switch (random_below(seed, 6)) {
        case 0:
            frame[at] = (uint8_t)random_next(seed);
            break;
        case 1:
            frame[at] ^= (uint8_t)(1u << random_below(seed, 8));
            break;
        case 2:
            memcpy(frame + at / 4 * 4, &words[random_below(seed, 9)], 4);
            break;
        case 3:
            memmove(frame + at, frame + from, len - (at > from ? at : from));
            break;
        case 4:
            len -= random_below(seed, 9);
            break;
        default:
            frame[5 + random_below(seed, len - 5 < 60 ? len - 5 : 60)] = (uint8_t)random_next(seed);
        }
    }
    return len;
}

START_TEST(mutations_are_refused_or_read)
{
    enum { FRAMES = 1000, EACH = 100 };
    uint64_t seed = 4242;
    size_t good = 0;
    for (size_t round = 0; round < FRAMES; round++) {
        struct frame_builder *builder = frame_random(&seed, 40);
        size_t len;
        uint8_t *frame = frame_builder_encode(builder, 3 + round % 2, &len);
        uint8_t *changed = malloc(len + 16);
        for (size_t i = 0; i < EACH; i++) {
            memcpy(changed, frame, len);
            good += decode_once(slice_of(changed, mutate(&seed, changed, len)), i % 3);
        }
        free(changed);
        free(frame);
        frame_builder_free(&builder);
    }
    ck_assert_uint_gt(good, FRAMES); /* many changes hit values, which are not looked at */
    ck_assert_uint_lt(good, FRAMES * EACH * 9 / 10);
}
END_TEST

/* Decodes with allowances of up to `most` steps; counts the calls. */
static bool decode_in_shares(struct slice frame, uint64_t *seed, size_t most, struct view *view,
                             const struct test_room *room, size_t *calls_out, struct error *err)
{
    struct decode decode;
    enum progress progress;
    decode_begin(&decode, frame, BOTH, &room->room, view);
    do {
        size_t left = 1 + random_below(seed, most);
        progress = decode_some(&decode, &left, err);
        ++*calls_out;
    } while (progress == PROGRESS_MORE);
    return progress == PROGRESS_DONE;
}

START_TEST(shares_end_as_the_whole_does)
{
    uint64_t seed = 31;
    size_t calls = 0;
    size_t good = 0;
    for (size_t round = 0; round < 6000; round++) {
        struct frame_builder *builder = frame_random(&seed, round % 100 < 98 ? 100 : 5000);
        size_t len;
        uint8_t *frame = frame_builder_encode(builder, 3 + round % 2, &len);
        len = round % 3 == 0 ? len : mutate(&seed, frame, len);
        struct placed placed = place_bytes(slice_of(frame, len), round % 9);
        struct test_room rooms[2];
        struct view views[2];
        struct error errs[2] = {{0}, {0}};
        test_room_init(&rooms[0]);
        test_room_init(&rooms[1]);
        bool whole = decode_view(placed.bytes, BOTH, &rooms[0].room, &views[0], &errs[0]);
        bool shares = decode_in_shares(placed.bytes, &seed, 1 + round % 50, &views[1], &rooms[1],
                                       &calls, &errs[1]);
        ck_assert_int_eq(whole, shares);
        ck_assert_str_eq(errs[0].text, errs[1].text);
        ck_assert(!whole || view_difference(&views[0], &views[1]) == NULL);
        ck_assert_uint_eq(rooms[0].bytes, rooms[1].bytes);
        good += whole;
        test_room_fini(&rooms[1]);
        test_room_fini(&rooms[0]);
        free(placed.block);
        free(frame);
        frame_builder_free(&builder);
    }
    ck_assert_uint_gt(good, 2000);
    ck_assert_uint_gt(calls, 5 * 6000);
}
END_TEST

/* What one call has done of the part that the decoder is at, against its allowance. */
static void check_share(const struct decode *before, size_t columns_before,
                        const struct decode *after, size_t allowed)
{
    static const size_t a_step[2][4] = {
        {[DECODE_BITS] = 1024, [DECODE_TURN] = 1024, [DECODE_TABLE] = 1},
        {[DECODE_BITS] = 1024, [DECODE_TABLE] = 32},
    };
    const size_t columns = after->view->column_count;
    ck_assert_uint_le(columns - columns_before, allowed + 1);
    if (after->part == DECODE_HEAD) {
        return;
    }
    const bool same = columns_before == columns && before->part == after->part;
    const size_t done = after->done - (same ? before->done : 0);
    ck_assert_uint_le(done, allowed * a_step[after->view->version - 3][after->part]);
}

/* However many rows there are, a call does no more than it is allowed to. */
START_TEST(shares_are_as_long_as_allowed)
{
    uint64_t seed = 47;
    size_t calls = 0;
    for (size_t round = 0; round < 60; round++) {
        struct frame_builder *builder = frame_random(&seed, 20000);
        size_t len;
        uint8_t *frame = frame_builder_encode(builder, 3 + round % 2, &len);
        struct placed placed = place_bytes(slice_of(frame, len), 0);
        struct test_room room;
        struct view view;
        struct decode decode;
        test_room_init(&room);
        decode_begin(&decode, placed.bytes, BOTH, &room.room, &view);
        enum progress progress = PROGRESS_MORE;
        while (progress == PROGRESS_MORE) {
            const struct decode before = decode;
            const size_t columns = view.column_count;
            const size_t allowed = 1 + random_below(&seed, 20);
            size_t left = allowed;
            progress = decode_some(&decode, &left, NULL);
            check_share(&before, columns, &decode, allowed);
            calls++;
        }
        ck_assert_int_eq(progress, PROGRESS_DONE);
        test_room_fini(&room);
        free(placed.block);
        free(frame);
        frame_builder_free(&builder);
    }
    ck_assert_uint_gt(calls, 60 * 100);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("decode_property");
    TCase *tcase = tcase_create("decode_property");
    tcase_set_timeout(tcase, 200);
    tcase_add_test(tcase, both_layouts_show_the_same);
    tcase_add_test(tcase, version_4_is_one_to_one);
    tcase_add_test(tcase, truncations_are_refused);
    tcase_add_test(tcase, mutations_are_refused_or_read);
    tcase_add_test(tcase, shares_end_as_the_whole_does);
    tcase_add_test(tcase, shares_are_as_long_as_allowed);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
