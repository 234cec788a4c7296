// SPDX-License-Identifier: Apache-2.0
/*
 * A received message: one allocation with a count (the owner of everything that is decoded in it).
 *
 *     msg_new(declared) ── msg_append ──▶ NEED_MORE … READY ── msg_retain / msg_release ──▶ freed
 *
 * It is sized once, from the length in the gRPC prefix, which the caller has checked against its
 * limit. A SendResponse carries the frame as field `body`; the first bytes of the message tell at
 * which offset it begins, and the message is laid out so that the body starts on a multiple of 8.
 * While too few bytes are there to know (32 at most), they wait at the front and move once.
 *
 * The count is a plain number: a message belongs to one thread from arrival to release.
 */
#pragma once

#include "frame/charge.h"
#include "frame/slice.h"

enum msg_state {
    MSG_NEED_MORE, /* fewer bytes than declared have arrived */
    MSG_READY,     /* exactly the declared bytes are there */
    MSG_BROKEN,    /* more bytes than declared were appended; the surplus was not stored */
};

struct msg;

/* A message of `declared` bytes to come, count 1. Never NULL. `charge` may be NULL, otherwise it
 * is charged the whole capacity (kind MESSAGE) until the last release and must outlive that. */
struct msg *msg_new(size_t declared, struct charge *charge);

/* A complete message with a copy of these bytes, laid out as if it had been received. */
struct msg *msg_copy_of(struct slice bytes, struct charge *charge);

/* Copies a chunk that arrived. A message of 0 bytes is READY from the start. */
enum msg_state msg_append(struct msg *msg, struct slice chunk);
enum msg_state msg_state(const struct msg *msg);

/* The bytes that have arrived; all of them once READY. Valid while the count is held.
 * 16 readable bytes follow the last one, so that short strings may be copied 16 at a time. */
struct slice msg_bytes(const struct msg *msg);
size_t msg_capacity(const struct msg *msg);

struct msg *msg_retain(struct msg *msg);
/* Gives one count back and NULLs the pointer; NULL is a no-op. With poison set for the process
 * (msg_poison_released) the bytes are overwritten before they are freed. */
void msg_release(struct msg **msg);

/* Moves the message to another account (NULL = none), as when it is handed to another thread: the
 * giver moves it to NULL on its own thread, the taker to its account on the other. */
void msg_recharge(struct msg *msg, struct charge *charge);

/* For all messages of the process: overwrite bytes with MSG_POISON at the last release, so that a
 * slice that outlived its message reads as such and not as a plausible older value. main sets it
 * once from BYDB_POISON_RELEASED, before any thread starts; this floor's one mutable global. */
void msg_poison_released(bool on);

#define MSG_SPARE  16   /* readable bytes behind a message */
#define MSG_POISON 0xDB /* what released bytes are overwritten with */
