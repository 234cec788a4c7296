// SPDX-License-Identifier: Apache-2.0
/*
 * The storage is as long as the message, 7 bytes by which it may be shifted, and the spare bytes:
 *
 *     | 0…7 unused | message (its body on a multiple of 8) | 16 zero bytes | 7…0 unused |
 *
 * The first bytes lie at 0 until the landing is known, then they move by the shift, once.
 */
#include "frame/msg.h"

#include "frame/envelope.h"
#include "frame/spent.h"

#include <assert.h>
#include <stdalign.h>
#include <stdlib.h>

#define SHIFT_MAX 7
#define HEAD_MAX  32 /* a longer head tells no more */

struct msg {
    size_t count;          /* who holds it */
    size_t declared;       /* bytes to come in all */
    size_t arrived;        /* bytes that are there */
    size_t shift;          /* where in the storage they begin */
    size_t capacity;       /* of this allocation */
    bool landed;           /* the shift is final */
    bool broken;           /* more was appended than declared */
    struct charge *charge; /* borrow: outlives the message; may be NULL */
    alignas(16) uint8_t storage[];
};

static bool poison_released;

void msg_poison_released(bool on)
{
    poison_released = on;
}

struct msg *msg_new(size_t declared, struct charge *charge)
{
    assert(declared < SIZE_MAX / 2);
    size_t capacity = sizeof(struct msg) + declared + SHIFT_MAX + MSG_SPARE;
    struct msg *msg = malloc(capacity);
    if (msg == NULL) {
        abort();
    }
    *msg = (struct msg){.count = 1, .declared = declared, .capacity = capacity, .charge = charge};
    memset(msg->storage + declared, 0, SHIFT_MAX + MSG_SPARE);
    charge_add(charge, CHARGE_MESSAGE, capacity);
    return msg;
}

struct msg *msg_copy_of(struct slice bytes, struct charge *charge)
{
    struct msg *msg = msg_new(bytes.len, charge);
    enum msg_state state = msg_append(msg, bytes);
    assert(state == MSG_READY);
    (void)state;
    return msg;
}

static void store(struct msg *msg, struct slice bytes)
{
    if (bytes.len > 0) {
        memcpy(msg->storage + msg->shift + msg->arrived, bytes.ptr, bytes.len);
        msg->arrived += bytes.len;
    }
}

/* Chooses the shift once the head tells enough or cannot tell more. */
static void land(struct msg *msg)
{
    size_t offset = 0;
    enum landing landing = envelope_landing(msg_bytes(msg), &offset);
    bool head_full = msg->arrived >= HEAD_MAX || msg->arrived == msg->declared;
    if (landing == LANDING_UNKNOWN && !head_full) {
        return;
    }
    msg->landed = true;
    if (landing == LANDING_KNOWN) {
        msg->shift = (8 - offset % 8) % 8;
        memmove(msg->storage + msg->shift, msg->storage, msg->arrived);
    }
}

enum msg_state msg_append(struct msg *msg, struct slice chunk)
{
    size_t missing = msg->declared - msg->arrived;
    if (chunk.len > missing) {
        msg->broken = true;
        chunk.len = missing;
    }
    if (!msg->landed && chunk.len > 0) {
        size_t head = HEAD_MAX - msg->arrived;
        if (head > chunk.len) {
            head = chunk.len;
        }
        store(msg, slice_of(chunk.ptr, head));
        land(msg);
        chunk = slice_of(chunk.ptr + head, chunk.len - head);
    }
    store(msg, chunk);
    return msg_state(msg);
}

enum msg_state msg_state(const struct msg *msg)
{
    if (msg->broken) {
        return MSG_BROKEN;
    }
    return msg->arrived == msg->declared ? MSG_READY : MSG_NEED_MORE;
}

struct slice msg_bytes(const struct msg *msg)
{
    return slice_of(msg->storage + msg->shift, msg->arrived);
}

size_t msg_capacity(const struct msg *msg)
{
    return msg->capacity;
}

struct msg *msg_retain(struct msg *msg)
{
    assert(msg->count > 0);
    msg->count++;
    return msg;
}

void msg_recharge(struct msg *msg, struct charge *charge)
{
    charge_drop(msg->charge, CHARGE_MESSAGE, msg->capacity);
    charge_add(charge, CHARGE_MESSAGE, msg->capacity);
    msg->charge = charge;
}

/* The barrier keeps the compiler from dropping stores to memory that is freed next. Under
 * AddressSanitizer free itself poisons the whole allocation. */
static void overwrite(struct msg *msg)
{
    size_t len = msg->capacity - sizeof *msg;
    memset(msg->storage, MSG_POISON, len);
    __asm__ volatile("" : : "r"(msg->storage) : "memory");
}

void msg_release(struct msg **msg)
{
    struct msg *released = *msg;
    *msg = NULL;
    if (released == NULL) {
        return;
    }
    assert(released->count > 0);
    if (--released->count > 0) {
        return;
    }
    charge_drop(released->charge, CHARGE_MESSAGE, released->capacity);
    if (poison_released) {
        overwrite(released);
    }
    spent_free(released->charge, released, released->capacity);
}
