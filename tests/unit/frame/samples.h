// SPDX-License-Identifier: Apache-2.0
/* The two frames that the layouts' descriptions print, and one change to them at a time. */
#pragma once

#include "tests/support/frame_test.h"

/* Version 4, 184 bytes: timestamps 1, 2; series id 42 as a constant; tag default.svc "a", null;
 * float field v 1.5, null. */
#define SAMPLE_V4                                                                                  \
    "00564652 04 000000 02000000 04000000 "                                                        \
    "01 01 00 00 0000 0000 00000000 10000000  0100000000000000 0200000000000000 "                  \
    "03 01 02 00 0000 0000 00000000 08000000  2a00000000000000 "                                   \
    "05 03 01 00 0300 0700 01000000 01000000  7376636465666175 6c74000000000000 "                  \
    "0100000000000000  00000000 01000000 01000000 00000000  6100000000000000 "                     \
    "06 02 01 00 0100 0000 01000000 10000000  7600000000000000  0100000000000000 "                 \
    "000000000000f83f 0000000000000000"

/* Version 3, 135 bytes: two rows, series id 42, tag default.svc "a", null; field total 7, 9. */
#define SAMPLE_V3                                                                                  \
    "00564652 03 02 06 "                                                                           \
    "01 01 00 00 00 00002a36fe9c9717 0058712e0c9d9717 "                                            \
    "02 01 00 00 00 0100000000000000 0100000000000000 "                                            \
    "03 01 00 00 00 2a00000000000000 2a00000000000000 "                                            \
    "04 01 00 00 00 0000000000000000 0000000000000000 "                                            \
    "05 03 03 737663 07 64656661756c74 02 01 61 00 "                                               \
    "06 01 05 746f74616c 00 00 0700000000000000 0900000000000000"

#define SAMPLE_MAX 512

/* At byte `at` of the sample, `cut` bytes give way to `hex`. */
struct change {
    size_t at;
    size_t cut;
    const char *hex;
    const char *text; /* what the refusal must say */
};

/* The sample with the change, followed by exactly 16 readable bytes. */
static inline struct placed sample_changed(const char *sample, const struct change *change)
{
    uint8_t whole[SAMPLE_MAX];
    uint8_t changed[2 * SAMPLE_MAX];
    size_t len = hex_bytes(sample, whole, sizeof whole);
    memcpy(changed, whole, change->at);
    size_t at = change->at + hex_bytes(change->hex, changed + change->at, SAMPLE_MAX);
    size_t rest = len - change->at - change->cut;
    memcpy(changed + at, whole + change->at + change->cut, rest);
    return place_bytes(slice_of(changed, at + rest), 0);
}
