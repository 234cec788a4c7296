// SPDX-License-Identifier: Apache-2.0
/* First the prefix, then the message, and again; the state is how many bytes of each are there. */
#include "liaison/http2/inbox.h"

void inbox_init(struct inbox *inbox, size_t max_bytes, struct charge *charge)
{
    *inbox = (struct inbox){.max_bytes = max_bytes, .charge = charge};
}

void inbox_fini(struct inbox *inbox)
{
    msg_release(&inbox->msg);
    inbox->prefix_len = 0;
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
    const uint8_t *p = inbox->prefix;
    return (size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4];
}

static bool check_flag(const struct inbox *inbox, struct error *err)
{
    const unsigned flag = inbox->prefix[0];
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
    if (!check_flag(inbox, err)) {
        return false;
    }
    if (len > inbox->max_bytes) {
        return error_set(err, ERROR_RESOURCE_EXHAUSTED,
                         "grpc: received message larger than max (%zu vs. %zu)", len,
                         inbox->max_bytes);
    }
    return inbox->admit == NULL || inbox->admit(inbox->owner, len, err);
}

/* False: the prefix is not complete yet, or it is not acceptable (*broken). */
static bool feed_prefix(struct inbox *inbox, struct slice *chunk, bool *broken, struct error *err)
{
    const struct slice part = cut(chunk, GRPC_PREFIX_BYTES - inbox->prefix_len);
    if (part.len > 0) {
        memcpy(inbox->prefix + inbox->prefix_len, part.ptr, part.len);
    }
    inbox->prefix_len += (unsigned)part.len;
    if (inbox->prefix_len < GRPC_PREFIX_BYTES) {
        return false;
    }
    *broken = !check_prefix(inbox, err);
    return !*broken;
}

enum inbox_result inbox_feed(struct inbox *inbox, struct slice *chunk, struct msg **msg_out,
                             struct error *err)
{
    if (inbox->msg == NULL) {
        bool broken = false;
        if (!feed_prefix(inbox, chunk, &broken, err)) {
            return broken ? INBOX_BROKEN : INBOX_NEED_MORE;
        }
        inbox->msg = msg_new(declared(inbox), inbox->charge);
    }
    const size_t missing = declared(inbox) - msg_bytes(inbox->msg).len;
    if (msg_append(inbox->msg, cut(chunk, missing)) == MSG_NEED_MORE) {
        return INBOX_NEED_MORE;
    }
    *msg_out = inbox->msg;
    inbox->msg = NULL;
    inbox->prefix_len = 0;
    return INBOX_MESSAGE;
}

bool inbox_end(const struct inbox *inbox, struct error *err)
{
    if (inbox->msg != NULL) {
        return error_set(err, ERROR_INTERNAL, "the stream ended %zu bytes into a message of %zu",
                         msg_bytes(inbox->msg).len, declared(inbox));
    }
    if (inbox->prefix_len > 0) {
        return error_set(err, ERROR_INTERNAL,
                         "the stream ended within the prefix of a message (%u of %u bytes)",
                         inbox->prefix_len, (unsigned)GRPC_PREFIX_BYTES);
    }
    return true;
}
