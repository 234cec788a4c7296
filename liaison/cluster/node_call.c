// SPDX-License-Identifier: Apache-2.0
/* The answer goes to the query after the node has seen it, so that a failing node is known as such
 * before the query decides what to do. */
#include "liaison/cluster/node_call.h"

#include "frame/decode_layout.h"
#include "frame/envelope.h"
#include "liaison/container_of.h"
#include "liaison/own.h"
#include "proto/cluster.pb-c.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#define MODULE     "CLUSTER.NODE"
#define TEXT_SHOWN ((size_t)1000)

/* Takes the call from its node and gives it to the reaper; true the first time. */
static bool finish(struct node_call *call, const struct error *why, bool cancelled)
{
    if (call->ended) {
        return false;
    }
    call->ended = true;
    if (call->node != NULL) {
        node_call_ended(call->node, call, why, cancelled);
        call->node = NULL;
    }
    loop_reap(call->loop, call, free);
    return true;
}

/* The code as Go's gRPC library spells it. */
static const char *go_name(enum error_code code)
{
    static const char *const names[] = {
        "OK",
        "Canceled",
        "Unknown",
        "InvalidArgument",
        "DeadlineExceeded",
        "NotFound",
        "AlreadyExists",
        "PermissionDenied",
        "ResourceExhausted",
        "FailedPrecondition",
        "Aborted",
        "OutOfRange",
        "Unimplemented",
        "Internal",
        "Unavailable",
        "DataLoss",
        "Unauthenticated",
    };
    return (size_t)code < sizeof names / sizeof names[0] ? names[code] : "Unknown";
}

/* As the Go liaison shows a failed RPC, and which node it was unless these are its own words; what
 * admit said, and the end without an answer, stay. */
static void rpc_error(const struct node_call *call, const struct error *status, struct error *why)
{
    const struct node *node = call->node;
    if (call->refused || (status->code == ERROR_UNAVAILABLE && strcmp(status->text, "EOF") == 0)) {
        *why = *status;
    } else if (node != NULL && status->code == ERROR_DEADLINE_EXCEEDED) {
        error_set(
            why, status->code,
            "rpc error: code = DeadlineExceeded desc = context deadline exceeded: data node %s "
            "(%s) did not answer within %llu ms (--dst-broadcast-timeout, or what the client's "
            "deadline left)",
            node_name(node), node_address(node),
            (unsigned long long)((loop_now(call->loop) - call->started) / 1000000));
    } else if (node != NULL &&
               (status->code == ERROR_UNAVAILABLE || status->code == ERROR_CANCELLED)) {
        error_set(why, status->code,
                  "rpc error: code = %s desc = data node %s (%s) was lost: %s; try again: while it "
                  "is away, other nodes are asked alone",
                  go_name(status->code), node_name(node), node_address(node), status->text);
    } else if (node != NULL && !unary_status_is_theirs(call->unary)) {
        error_set(why, status->code, "rpc error: code = %s desc = %s: answer of data node %s (%s)",
                  go_name(status->code), status->text, node_name(node), node_address(node));
    } else {
        error_set(why, status->code, "rpc error: code = %s desc = %s", go_name(status->code),
                  status->text);
    }
}

/* Clients get a node's own words as they are, and nothing more, as from the Go liaison: whose they
 * are is told here. */
static void log_error_text(const struct node_call *call, struct slice text)
{
    log_debug(call->log, MODULE, "data node answered with an error; node=%s address=%s error=%.*s",
              node_name(call->node), node_address(call->node), (int)MIN(text.len, TEXT_SHOWN),
              (const char *)text.ptr);
}

static void look_at(const struct node_call *call, struct msg *msg)
{
    struct envelope envelope;
    struct answer answer;
    struct error ignored; /* it is read again, by the one whom it concerns */
    if (!envelope_read(msg_bytes(msg), &envelope, &ignored)) {
        return;
    }
    if (envelope.error.len > 0) {
        log_error_text(call, envelope.error);
    } else if (envelope_answer(envelope.body, &answer, &ignored) &&
               answer.frame.len > DECODE_VERSION_AT) {
        node_answered(call->node, answer.frame.ptr[DECODE_VERSION_AT]);
    }
}

static void on_answer(void *owner, struct msg *msg, const struct error *status)
{
    struct node_call *call = owner;
    struct error why;
    if (msg != NULL && call->node != NULL) {
        look_at(call, msg);
    }
    if (status != NULL) {
        rpc_error(call, status, &why);
    }
    call->unary = NULL;
    finish(call, status == NULL ? NULL : &why, false);
    call->on_answer(call->owner, msg, status == NULL ? NULL : &why);
}

static void run_failure(struct loop_task *task)
{
    struct node_call *call = container_of(task, struct node_call, failure);
    if (finish(call, &call->why, false)) {
        call->on_answer(call->owner, NULL, &call->why);
    }
}

static bool admit(void *owner, size_t declared, struct slice head, struct error *err)
{
    struct node_call *call = owner;
    call->refused = !call->admit(call->owner, declared, head, err);
    return !call->refused;
}

static struct link *next_link(void *owner)
{
    const struct node_call *call = owner;
    return call->node == NULL ? NULL : node_call_next_link(call->node);
}

struct node_call *
node_call_new(struct loop *loop, const struct node_call_options *options,
              void (*answer)(void *owner, struct msg *msg, const struct error *why), void *owner)
{
    struct node_call *call = own_array(1, sizeof *call);
    *call = (struct node_call){
        .loop = loop,
        .failure = {.run = run_failure},
        .started = loop_now(loop),
        .admit = options->admit,
        .on_answer = answer,
        .owner = owner,
    };
    return call;
}

/* protobuf-c's structs have no const; it only reads. */
static char *borrowed(const char *text)
{
    return (char *)(uintptr_t)(text == NULL ? "" : text);
}

/* Neither version_info, so that no node checks it, nor message_id, which nobody matches. */
static struct slice encode(const struct node_call_options *options, const char *tier)
{
    Banyandb__Cluster__V1__SendRequest request;
    banyandb__cluster__v1__send_request__init(&request);
    request.topic = borrowed(options->topic);
    request.body.data = (uint8_t *)(uintptr_t)options->body.ptr;
    request.body.len = options->body.len;
    request.group = borrowed(options->group);
    request.sender_node = borrowed(options->sender_node);
    request.sender_role = borrowed("liaison");
    request.sender_tier = borrowed(tier);
    const size_t size = banyandb__cluster__v1__send_request__get_packed_size(&request);
    uint8_t *bytes = own_array(1, size + 1);
    banyandb__cluster__v1__send_request__pack(&request, bytes);
    return slice_of(bytes, size);
}

void node_call_start(struct node_call *call, struct link *link,
                     const struct node_call_options *options, const char *tier)
{
    const struct slice request = encode(options, tier);
    const struct unary_options unary = {
        .call = {.path = "/banyandb.cluster.v1.Service/Send",
                 .deadline = options->deadline,
                 .charge = options->charge,
                 .admit = options->admit == NULL ? NULL : admit},
        .request = request,
        .next_link = next_link,
        .first_message_is_enough = true,
        .on_answer = on_answer,
        .owner = call,
    };
    call->unary = unary_open(call->loop, link, &unary);
    free((void *)(uintptr_t)request.ptr);
}

void node_call_fail(struct node_call *call, const struct error *why)
{
    unary_cancel(&call->unary);
    call->why = *why;
    loop_defer(call->loop, &call->failure);
}

struct node_call *
node_call_missing(struct loop *loop, const char *name, const struct node_call_options *options,
                  void (*answer)(void *owner, struct msg *msg, const struct error *why),
                  void *owner)
{
    struct error why;
    struct node_call *call = node_call_new(loop, options, answer, owner);
    error_set(&why, ERROR_UNAVAILABLE,
              "failed to publish message to %s: client not found for node %s", name, name);
    node_call_fail(call, &why);
    return call;
}

void node_call_cancel(struct node_call **call)
{
    struct node_call *cancelled = *call;
    *call = NULL;
    if (cancelled != NULL) {
        unary_cancel(&cancelled->unary);
        finish(cancelled, NULL, true);
    }
}
