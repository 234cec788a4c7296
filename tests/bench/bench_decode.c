// SPDX-License-Identifier: Apache-2.0
/*
 * What decoding costs, as a multiple of one memcpy of the frame in the same run: 8,192 rows of
 * three strings (43 bytes on average) and one int64, both versions. The tables go into memory that
 * is reused, as a region's blocks are. Best of 400 each; the medians beside it. What is held is
 * looked at in a run of its own, with the frame in a message and the tables in a region.
 */
#include "frame/msg.h"
#include "merge/arena.h"
#include "tests/bench/held.h"
#include "tests/support/frame_builder.h"
#include "tests/support/frame_random.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROWS = 8192, RUNS = 400, STRINGS = 3, STRING_MEAN = 43, MESSAGES = 8 };

/* Memory that starts anew for each frame. */
struct slab {
    uint8_t *bytes; /* own */
    size_t capacity;
    size_t used;
    size_t calls;
};

static void *slab_alloc(void *owner, size_t size, size_t align)
{
    struct slab *slab = owner;
    size_t at = (slab->used + align - 1) / align * align;
    if (at + size > slab->capacity) {
        abort();
    }
    slab->used = at + size;
    slab->calls++;
    return slab->bytes + at;
}

static uint8_t *build(unsigned version, size_t *len_out)
{
    static const char *const names[STRINGS] = {"service", "instance", "endpoint"};
    uint64_t seed = 1;
    char text[2 * STRING_MEAN + 1];
    memset(text, 'x', sizeof text);
    struct frame_builder *builder = frame_builder_new(ROWS);
    for (size_t i = 0; i < STRINGS; i++) {
        frame_builder_column(builder, COLUMN_TAG, COLUMN_STRING, "default", names[i]);
        for (size_t row = 0; row < ROWS; row++) {
            frame_builder_bytes(builder, slice_of(text, random_below(&seed, 2 * STRING_MEAN + 1)));
        }
    }
    frame_builder_column(builder, COLUMN_FIELD, COLUMN_INT64, NULL, "value");
    for (size_t row = 0; row < ROWS; row++) {
        frame_builder_int(builder, (int64_t)row);
    }
    uint8_t *frame = frame_builder_encode(builder, version, len_out);
    frame_builder_free(&builder);
    return frame;
}

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

struct times {
    double best;
    double median;
};

static size_t runs(void)
{
    return held_is_all() ? 1 : RUNS;
}

static struct times summary(double *seconds)
{
    qsort(seconds, runs(), sizeof *seconds, by_value);
    return (struct times){seconds[0], seconds[runs() / 2]};
}

/* Frames of a few nodes, all decoded and none given back. */
static void tell_held(struct slice frame)
{
    struct msg *messages[MESSAGES];
    struct held held;
    struct arena arena;
    held_begin(&held);
    arena_init(&arena, SIZE_MAX, NULL, &held.charge);
    const struct room room = arena_room(&arena);
    for (size_t i = 0; i < MESSAGES; i++) {
        struct view view;
        messages[i] = msg_copy_of(frame, &held.charge);
        if (!decode_view(msg_bytes(messages[i]), DECODE_V3 | DECODE_V4, &room, &view, NULL)) {
            abort();
        }
        held_look(&held);
    }
    for (size_t i = 0; i < MESSAGES; i++) {
        msg_release(&messages[i]);
    }
    arena_fini(&arena);
    held_tell(&held);
}

/* The copies and the decodes take turns, so that both see the same machine. */
static void measure(unsigned version)
{
    static double copies[RUNS];
    static double decodes[RUNS];
    size_t len;
    uint8_t *frame = build(version, &len);
    uint8_t *copy = malloc(len);
    struct slab slab = {.capacity = 1 << 20};
    slab.bytes = calloc(1, slab.capacity);
    struct room room = {.alloc = slab_alloc, .owner = &slab};
    for (size_t i = 0; i < runs(); i++) {
        double t0 = now();
        memcpy(copy, frame, len);
        __asm__ volatile("" : : "r"(copy) : "memory");
        double t1 = now();
        struct view view;
        slab.used = slab.calls = 0;
        if (!decode_view(slice_of(frame, len), DECODE_V3 | DECODE_V4, &room, &view, NULL) ||
            view.row_count != ROWS) {
            abort();
        }
        double t2 = now();
        copies[i] = t1 - t0;
        decodes[i] = t2 - t1;
    }
    struct times memcpys = summary(copies);
    struct times decode = summary(decodes);
    printf("version %u: %zu bytes, %zu allocations; memcpy %.1f us, decode %.1f us: "
           "%.3f memcpys (medians %.3f), %.0f million rows/s",
           version, len, slab.calls, memcpys.best * 1e6, decode.best * 1e6,
           decode.best / memcpys.best, decode.median / memcpys.median, ROWS / decode.best / 1e6);
    tell_held(slice_of(frame, len));
    free(slab.bytes);
    free(copy);
    free(frame);
}

int main(void)
{
    for (size_t repetition = 0; repetition < 3; repetition++) {
        measure(4);
        measure(3);
    }
    return held_verdict();
}
