// SPDX-License-Identifier: Apache-2.0
/*
 * The protobuf around a frame, read without copying: cluster.v1.SendResponse, and inside its body
 * either a bare frame (first byte 0x00) or a measure.v1.InternalQueryResponse.
 *
 *   SendResponse            1 message_id varint · 2 error string · 3 body bytes · 4 status varint
 *                           5 version_compatibility message
 *   InternalQueryResponse   1 data_points message · 2 trace message · 3 raw_frame_body bytes
 *
 * A field that comes twice: the last one counts (protobuf's rule for scalars). Unknown fields are
 * skipped. A wrong wire type, a length past the end, a field number 0, more than 524,288 fields:
 * DATA_LOSS.
 */
#pragma once

#include "frame/error.h"
#include "frame/slice.h"

struct envelope {
    uint64_t message_id;
    int32_t status;
    struct slice error; /* borrow: the message's bytes */
    struct slice body;  /* borrow: the message's bytes; len 0 = no body */
};

bool envelope_read(struct slice bytes, struct envelope *envelope, struct error *err) MUST_CHECK;

enum landing {
    LANDING_UNKNOWN, /* more bytes are needed to tell */
    LANDING_KNOWN,   /* offset_out is where the body begins */
    LANDING_NONE,    /* no body can be told from a short head; any place is as good */
};

/* Where in a SendResponse the body's bytes begin, told from its first bytes alone; a frame inside
 * an InternalQueryResponse that comes first in the body is found too. */
enum landing envelope_landing(struct slice head, size_t *offset_out);

struct answer {
    struct slice frame; /* borrow; len 0 = no frame */
    struct slice trace; /* borrow: common.v1.Trace bytes; len 0 = none */
    bool trace_error;   /* Trace.error (field 3) is set */
    bool has_points;    /* data_points were sent */
};

/* What a measure query's body holds. An empty body gives an empty answer. */
bool envelope_answer(struct slice body, struct answer *answer, struct error *err) MUST_CHECK;
