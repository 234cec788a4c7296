// SPDX-License-Identifier: Apache-2.0
/* Text frames decoded into a region, for tests of what stands below the whole merge. */
#pragma once

#include "frame/decode.h"
#include "merge/arena.h"
#include "merge/source.h"
#include "tests/unit/frame/unit.h"
#include "tests/unit/merge/frames.h"

/* Decodes a frame that is written as text; the message is the caller's. */
static inline struct msg *opened_view(const char *text, unsigned version, struct arena *arena,
                                      struct view *view)
{
    struct msg *msg = frames_make(text, version, NULL);
    struct room room = arena_room(arena);
    struct error err = {0};
    ck_assert_msg(decode_view(msg_bytes(msg), DECODE_V3 | DECODE_V4, &room, view, &err), "%s",
                  err.text);
    return msg;
}

/* A source that pins it, standing on its first row. */
static inline struct source *opened_source(const char *text, size_t rank, const struct plan *plan,
                                           struct arena *arena)
{
    struct source *source = arena_new(arena, struct source);
    struct error err = {0};
    struct msg *msg = opened_view(text, 3 + rank % 2, arena, &source->view);
    source->rank = rank;
    ck_assert_msg(source_open(source, plan, arena, &err), "%s", err.text);
    source_pin(source, msg, arena->charge);
    msg_release(&msg);
    return source;
}
