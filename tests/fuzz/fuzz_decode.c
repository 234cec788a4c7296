// SPDX-License-Identifier: Apache-2.0
/* Any bytes as a frame of either version: refused, or every cell can be read, and there are as many
 * rows as its first bytes told; and the same, step by step. */
#include "frame/decode.h"
#include "tests/support/frame_test.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Ends as the whole did, with the same words. */
static void decode_by_steps(struct slice frame, bool whole, const struct error *said)
{
    struct test_room room;
    struct view view;
    struct decode decode;
    struct error err = {0};
    enum progress progress = PROGRESS_MORE;
    test_room_init(&room);
    decode_begin(&decode, frame, DECODE_V3 | DECODE_V4, &room.room, &view);
    while (progress == PROGRESS_MORE) {
        size_t left = 1;
        progress = decode_some(&decode, &left, &err);
    }
    assert((progress == PROGRESS_DONE) == whole && err.code == said->code);
    assert(strcmp(err.text, said->text) == 0);
    if (whole) {
        volatile uint64_t sum = view_read_all(&view);
        (void)sum;
    }
    test_room_fini(&room);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct placed placed = place_bytes(slice_of(bytes, len), 0);
    struct test_room room;
    struct view view;
    struct error err = {0};
    test_room_init(&room);
    const bool whole = decode_view(placed.bytes, DECODE_V3 | DECODE_V4, &room.room, &view, &err);
    if (whole) {
        volatile uint64_t sum = view_read_all(&view);
        (void)sum;
        assert(decode_rows(placed.bytes, len, DECODE_V3 | DECODE_V4) == view.row_count);
    } else {
        assert(err.code != ERROR_NONE && err.text[0] != '\0');
    }
    assert(room.bytes <= 64 * len + 65536);
    decode_by_steps(placed.bytes, whole, &err);
    test_room_fini(&room);
    free(placed.block);
    return 0;
}
