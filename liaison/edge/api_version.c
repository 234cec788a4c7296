// SPDX-License-Identifier: Apache-2.0
/* banyandb.common.v1.Service: which version of BanyanDB's API is spoken here. */
#include "liaison/edge/answer.h"
#include "liaison/edge/service.h"
#include "proto/common.pb-c.h"

/* What servers of 0.11 answer, too. */
#define API_VERSION "0.10"

static void on_get(struct edge *edge, struct exchange *exchange, struct msg *msg)
{
    (void)edge;
    Banyandb__Common__V1__APIVersion version;
    Banyandb__Common__V1__GetAPIVersionResponse response;
    char number[] = API_VERSION;
    banyandb__common__v1__apiversion__init(&version);
    banyandb__common__v1__get_apiversion_response__init(&response);
    version.version = number;
    response.version = &version;
    msg_release(&msg); /* it asks for nothing in particular */
    answer_send(exchange, &response.base);
}

const struct service_method api_version_methods[] = {
    {"/banyandb.common.v1.Service/GetAPIVersion", on_get, NULL},
    {NULL, NULL, NULL},
};
