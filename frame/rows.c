// SPDX-License-Identifier: Apache-2.0
#include "frame/rows.h"

#include "frame/decode.h"
#include "frame/envelope.h"

size_t rows_of_response(struct slice head, size_t declared, unsigned accepted)
{
    size_t at = 0;
    if (envelope_landing(head, &at) != LANDING_KNOWN) {
        return 0;
    }
    return decode_rows(slice_of(head.ptr + at, head.len - at), declared - at, accepted);
}
