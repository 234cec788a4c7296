// SPDX-License-Identifier: Apache-2.0
/* Base64 as proto3 JSON accepts it: standard or URL alphabet, padding optional. */
#pragma once

#include "frame/slice.h"

/* The standard alphabet with padding; freed by the caller. */
char *base64_encode(struct slice bytes);

/* An upper bound of the bytes that `len` characters stand for. */
size_t base64_bound(size_t len);

/* Writes at most base64_bound(text.len) bytes; false = not base64. */
bool base64_decode(struct slice text, uint8_t *bytes, size_t *len_out);
