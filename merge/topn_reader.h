// SPDX-License-Identifier: Apache-2.0
/*
 * A node's measure.v1.TopNResponse, read item by item where it lies.
 *
 *   TopNResponse   1 lists message · 2 trace
 *   TopNList       1 timestamp · 2 items message
 *   Item           1 entity Tag { 1 key · 2 TagValue } · 2 value FieldValue · 3 version varint
 *                  4 timestamp { 1 seconds · 2 nanos }
 *
 * Comes from outside: every length is walked before anything is believed. Unknown fields are
 * skipped; of a field that comes twice the last one counts.
 */
#pragma once

#include "frame/wire.h"
#include "merge/tuple.h"

struct topn_reader {
    struct wire lists;
    struct wire items; /* of the list that is being read */
    size_t count;      /* items read */
};

struct topn_read {
    struct cell value; /* a number; null when it is none */
    int64_t version;
    int64_t time; /* milliseconds since the epoch */
};

enum topn_reader_state { TOPN_READER_ITEM, TOPN_READER_END, TOPN_READER_BROKEN };

void topn_reader_init(struct topn_reader *reader, struct slice body);

/* The next item; its tags are spelled into the emptied tuple: name, value, name, value. BROKEN:
 * DATA_LOSS in err. */
enum topn_reader_state topn_reader_next(struct topn_reader *reader, struct tuple *tags,
                                        struct topn_read *item, struct error *err);
