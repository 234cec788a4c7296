// SPDX-License-Identifier: Apache-2.0
/* The request for the empty service name has no bytes at all. */
#include "liaison/cluster/probe.h"

#include "proto/health.pb-c.h"
#include "proto/message_read.h"

#define ANSWER_BYTES 4096

/* Over a link that takes answers to queries. */
static bool admit(void *owner, size_t declared, struct slice head, struct error *err)
{
    (void)owner;
    (void)head;
    return declared <= ANSWER_BYTES ||
           error_set(err, ERROR_RESOURCE_EXHAUSTED,
                     "health check: an answer of %zu bytes found, at most %d expected", declared,
                     ANSWER_BYTES);
}

struct unary *probe_ask(struct loop *loop, struct link *link, const struct probe_options *options)
{
    struct unary_options unary = {
        .call = {.path = "/grpc.health.v1.Health/Check",
                 .deadline =
                     options->timeout_ms == 0 ? 0 : loop_now(loop) + options->timeout_ms * 1000000,
                 .charge = options->charge,
                 .admit = admit},
        .on_answer = options->on_answer,
        .owner = options->owner,
    };
    if (options->with_credentials) {
        unary.call.metadata[0] = "username";
        unary.call.metadata[1] = "";
        unary.call.metadata[2] = "password";
        unary.call.metadata[3] = "";
    }
    return unary_open(loop, link, &unary);
}

bool probe_is_serving(struct msg *msg, const struct error *why, struct error *err)
{
    if (why != NULL) {
        return error_set(err, why->code, "health check: %s", why->text);
    }
    Grpc__Health__V1__HealthCheckResponse *answer =
        (Grpc__Health__V1__HealthCheckResponse *)message_read(
            msg_bytes(msg), &grpc__health__v1__health_check_response__descriptor, NULL);
    const bool serving =
        answer != NULL &&
        answer->status == GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING;
    const int status = answer == NULL ? -1 : (int)answer->status;
    if (answer != NULL) {
        grpc__health__v1__health_check_response__free_unpacked(answer, NULL);
    }
    return serving || error_set(err, ERROR_UNAVAILABLE,
                                "health check: status %d, expected 1 (SERVING)", status);
}
