// SPDX-License-Identifier: Apache-2.0
/*
 * The only encoder of measure frames that we have: values column by column, then bytes of either
 * version. Misuse (a value too many, a wrong type) asserts.
 *
 *     struct frame_builder *b = frame_builder_new(2);
 *     frame_builder_column(b, COLUMN_TAG, COLUMN_STRING, "default", "svc");
 *     frame_builder_text(b, "a");
 *     frame_builder_null(b);
 *     uint8_t *frame = frame_builder_encode(b, 4, &len);
 */
#pragma once

#include "frame/view.h"

struct frame_builder;

struct frame_builder *frame_builder_new(size_t rows);
void frame_builder_free(struct frame_builder **builder);

/* Begins a column; it wants one value per row. family NULL = "". All texts are copied. */
void frame_builder_column(struct frame_builder *builder, enum column_role role,
                          enum column_type type, const char *family, const char *name);
/* The same for names with any bytes: role, type, name, family, constant are taken from `like`. */
void frame_builder_column_like(struct frame_builder *builder, const struct column *like);
/* Makes the column that was just begun a constant: it wants one value. Version 3 has no constants
 * and repeats it; version 4 too when there is no row or the expansion budget would be passed. */
void frame_builder_constant(struct frame_builder *builder);

void frame_builder_int(struct frame_builder *builder, int64_t value);
void frame_builder_float(struct frame_builder *builder, double value);
void frame_builder_bits(struct frame_builder *builder, uint64_t bits); /* any number's 8 bytes */
void frame_builder_bytes(struct frame_builder *builder, struct slice bytes);
void frame_builder_text(struct frame_builder *builder, const char *text);
void frame_builder_null(struct frame_builder *builder);

/* All columns of a view with as many rows, constants as constants. */
void frame_builder_view(struct frame_builder *builder, const struct view *view);

/* The frame's bytes, to be freed by the caller; 16 zero bytes follow them. Version 3 or 4. */
uint8_t *frame_builder_encode(const struct frame_builder *builder, unsigned version,
                              size_t *len_out);

/* A cluster.v1.SendResponse with this error and body (empty ones are left out), and a
 * measure.v1.InternalQueryResponse with this trace and frame. Same ownership as a frame. */
uint8_t *frame_builder_send_response(uint64_t message_id, struct slice error, struct slice body,
                                     size_t *len_out);
uint8_t *frame_builder_internal_response(struct slice trace, struct slice frame, size_t *len_out);
