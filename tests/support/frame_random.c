// SPDX-License-Identifier: Apache-2.0
/* Sizes are drawn so that the borders (0, 1, 7, 8, 9, 127, 128 …) come often. */
#include "tests/support/frame_random.h"

#include "frame/column.h"

uint64_t random_next(uint64_t *state)
{
    /* xorshift64*, which any test may start from any number but 0 */
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

size_t random_below(uint64_t *state, size_t below)
{
    return (size_t)((random_next(state) >> 11) % below);
}

static size_t random_size(uint64_t *state, size_t max)
{
    static const size_t borders[] = {0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 128, 129};
    size_t size = random_below(state, 2) == 0 ? borders[random_below(state, 14)]
                                              : random_below(state, max + 1);
    return size <= max ? size : max;
}

static struct slice random_bytes(uint64_t *state, uint8_t *into, size_t max)
{
    size_t len = random_size(state, max);
    for (size_t i = 0; i < len; i++) {
        into[i] = (uint8_t)random_next(state);
    }
    return slice_of(into, len);
}

/* A message with one field: the null variant, a string in a message, or an int in a message. */
static struct slice random_cell(uint64_t *state, uint8_t *into, bool tag)
{
    size_t len = random_below(state, 100);
    switch (random_below(state, 4)) {
    case 0:
        return slice_of("", 0);
    case 1:
        return slice_of("\x08\x00", 2);
    case 2:
        into[0] = tag ? 4 << 3 | 2 : 3 << 3 | 2;
        into[1] = 2;
        into[2] = 1 << 3;
        into[3] = (uint8_t)len;
        return slice_of(into, 4);
    default:
        into[0] = 2 << 3 | 2;
        into[1] = (uint8_t)(len + 2);
        into[2] = 1 << 3 | 2;
        into[3] = (uint8_t)len;
        memset(into + 4, 'a' + (int)(len % 26), len);
        return slice_of(into, len + 4);
    }
}

static void random_value(struct frame_builder *builder, uint64_t *state, enum column_type type)
{
    uint8_t scratch[512];
    switch (type) {
    case COLUMN_INT64:
    case COLUMN_FLOAT64:
        frame_builder_bits(builder, random_next(state));
        return;
    case COLUMN_STRING:
    case COLUMN_BYTES:
        frame_builder_bytes(builder, random_bytes(state, scratch, 200));
        return;
    case COLUMN_TAG_VALUE:
    case COLUMN_FIELD_VALUE:
        frame_builder_bytes(builder, random_cell(state, scratch, type == COLUMN_TAG_VALUE));
        return;
    }
}

static void random_names(uint64_t *state, struct column *like, uint8_t *scratch)
{
    like->name = random_bytes(state, scratch, 20);
    if (like->role == COLUMN_TAG) {
        like->family = random_bytes(state, scratch + 32, 20);
    }
}

static void random_column(struct frame_builder *builder, uint64_t *state, size_t rows)
{
    uint8_t role;
    uint8_t type;
    do {
        role = (uint8_t)(1 + random_below(state, 6));
        type = (uint8_t)(1 + random_below(state, 6));
    } while (!column_pair_allowed(role, type));
    uint8_t scratch[64];
    struct column like = {.role = (enum column_role)role, .type = (enum column_type)type};
    random_names(state, &like, scratch);
    like.constant = random_below(state, 4) == 0;
    frame_builder_column_like(builder, &like);
    size_t null_in = random_below(state, 2) == 0 ? 0 : 1 + random_below(state, 6);
    for (size_t i = 0; i < (like.constant ? 1 : rows); i++) {
        if (null_in > 0 && random_below(state, null_in) == 0) {
            frame_builder_null(builder);
        } else {
            random_value(builder, state, like.type);
        }
    }
}

struct frame_builder *frame_random(uint64_t *state, size_t max_rows)
{
    size_t columns = random_below(state, 9);
    size_t rows = columns == 0 ? 0 : random_size(state, max_rows);
    struct frame_builder *builder = frame_builder_new(rows);
    for (size_t i = 0; i < columns; i++) {
        random_column(builder, state, rows);
    }
    return builder;
}
