// SPDX-License-Identifier: Apache-2.0
/* First the prefix, then the head, then the message, and again; the state is how many bytes of each
 * are there. */
#include "liaison/http2/inbox.h"

void inbox_init(struct inbox *inbox, size_t max_bytes, struct charge *charge)
{
    *inbox = (struct inbox){.max_bytes = max_bytes, .charge = charge};
}

void inbox_fini(struct inbox *inbox)
{
    msg_release(&inbox->msg);
    inbox->front_len = 0;
}

static struct slice cut(struct slice *chunk, size_t wanted)
{
    const struct slice front = slice_of(chunk->ptr, chunk->len < wanted ? chunk->len : wanted);
    chunk->ptr += front.len;
    chunk->len -= front.len;
    return front;
}

static size_t declared(const struct inbox *inbox)
{
    const uint8_t *p = inbox->front;
    return (size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4];
}

static bool check_flag(const struct inbox *inbox, struct error *err)
{
    const unsigned flag = inbox->front[0];
    if (flag == 0) {
        return true;
    }
    if (flag > 1) {
        return error_set(err, ERROR_INTERNAL,
                         "the compressed flag of a message is %u, expected 0 or 1", flag);
    }
    if (inbox->encoding.len == 0) {
        return error_set(err, ERROR_INTERNAL,
                         "a message is flagged as compressed, but no grpc-encoding was declared");
    }
    return error_set(err, ERROR_UNIMPLEMENTED,
                     "grpc-encoding \"%.*s\" is not supported, only identity",
                     SLICE_ARG(inbox->encoding));
}

static bool check_prefix(const struct inbox *inbox, struct error *err)
{
    const size_t len = declared(inbox);
    return check_flag(inbox, err) &&
           (len <= inbox->max_bytes ||
            error_set(err, ERROR_RESOURCE_EXHAUSTED,
                      "grpc: received message larger than max (%zu vs. %zu)", len,
                      inbox->max_bytes));
}

static struct slice head(const struct inbox *inbox)
{
    return slice_of(inbox->front + GRPC_PREFIX_BYTES, inbox->front_len - GRPC_PREFIX_BYTES);
}

/* True: so many bytes of the front are there. */
static bool fill_front(struct inbox *inbox, size_t wanted, struct slice *chunk)
{
    const struct slice part = cut(chunk, wanted - inbox->front_len);
    if (part.len > 0) {
        memcpy(inbox->front + inbox->front_len, part.ptr, part.len);
    }
    inbox->front_len += (unsigned)part.len;
    return inbox->front_len == wanted;
}

/* False: the prefix is not complete yet, or it is not acceptable (*broken). */
static bool has_prefix(struct inbox *inbox, struct slice *chunk, bool *broken, struct error *err)
{
    if (inbox->front_len >= GRPC_PREFIX_BYTES) {
        return true;
    }
    if (!fill_front(inbox, GRPC_PREFIX_BYTES, chunk)) {
        return false;
    }
    *broken = !check_prefix(inbox, err);
    return !*broken;
}

/* False: the head is not complete yet, or the message is refused (*broken). */
static bool is_admitted(struct inbox *inbox, struct slice *chunk, bool *broken, struct error *err)
{
    if (!has_prefix(inbox, chunk, broken, err)) {
        return false;
    }
    const size_t len = declared(inbox);
    const size_t head_len = len < INBOX_HEAD_BYTES ? len : INBOX_HEAD_BYTES;
    if (!fill_front(inbox, GRPC_PREFIX_BYTES + head_len, chunk)) {
        return false;
    }
    *broken = inbox->admit != NULL && !inbox->admit(inbox->owner, len, head(inbox), err);
    return !*broken;
}

enum inbox_result inbox_feed(struct inbox *inbox, struct slice *chunk, struct msg **msg_out,
                             struct error *err)
{
    if (inbox->msg == NULL) {
        bool broken = false;
        if (!is_admitted(inbox, chunk, &broken, err)) {
            return broken ? INBOX_BROKEN : INBOX_NEED_MORE;
        }
        inbox->msg = msg_new(declared(inbox), inbox->charge);
        msg_append(inbox->msg, head(inbox));
    }
    const size_t missing = declared(inbox) - msg_bytes(inbox->msg).len;
    if (msg_append(inbox->msg, cut(chunk, missing)) == MSG_NEED_MORE) {
        return INBOX_NEED_MORE;
    }
    *msg_out = inbox->msg;
    inbox->msg = NULL;
    inbox->front_len = 0;
    return INBOX_MESSAGE;
}

/* Bytes of the message that have arrived; its prefix is there. */
static size_t arrived(const struct inbox *inbox)
{
    return inbox->msg == NULL ? head(inbox).len : msg_bytes(inbox->msg).len;
}

bool inbox_end(const struct inbox *inbox, struct error *err)
{
    if (inbox->front_len == 0) {
        return true;
    }
    if (inbox->front_len < GRPC_PREFIX_BYTES) {
        return error_set(err, ERROR_INTERNAL,
                         "the stream ended within the prefix of a message (%u of %u bytes)",
                         inbox->front_len, (unsigned)GRPC_PREFIX_BYTES);
    }
    return error_set(err, ERROR_INTERNAL, "the stream ended %zu bytes into a message of %zu",
                     arrived(inbox), declared(inbox));
}
