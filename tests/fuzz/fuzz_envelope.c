// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as a SendResponse and what it holds, and received in chunks: the first byte of the
 * input says how long the chunks are. However they are cut, the same message arrives, and a body
 * that the landing foresaw lies on a multiple of 8.
 */
#include "frame/decode.h"
#include "frame/envelope.h"
#include "frame/msg.h"
#include "frame/rows.h"
#include "tests/support/frame_test.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void receive(struct slice bytes, size_t step, size_t landed_at)
{
    struct charge charge = {0};
    struct msg *msg = msg_new(bytes.len, &charge);
    for (size_t at = 0; at < bytes.len; at += step) {
        size_t rest = bytes.len - at;
        (void)msg_append(msg, slice_of(bytes.ptr + at, step < rest ? step : rest));
    }
    assert(msg_state(msg) == MSG_READY);
    assert(slice_equal(msg_bytes(msg), bytes));
    assert(landed_at == 0 || (uintptr_t)(msg_bytes(msg).ptr + landed_at) % 8 == 0);
    msg_release(&msg);
    assert(charge.total == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len == 0) {
        return 0;
    }
    struct placed placed = place_bytes(slice_of(bytes + 1, len - 1), 0);
    struct envelope envelope;
    struct answer answer;
    if (envelope_read(placed.bytes, &envelope, NULL)) {
        (void)!envelope_answer(envelope.body, &answer, NULL);
    }
    (void)!envelope_answer(placed.bytes, &answer, NULL);
    size_t landed_at = 0;
    struct slice head = placed.bytes;
    head.len = head.len < 32 ? head.len : 32;
    if (envelope_landing(head, &landed_at) != LANDING_KNOWN) {
        landed_at = 0;
    }
    (void)rows_of_response(head, len, DECODE_V3 | DECODE_V4);
    receive(placed.bytes, 1 + (size_t)bytes[0], landed_at);
    free(placed.block);
    return 0;
}
