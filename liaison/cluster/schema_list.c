// SPDX-License-Identifier: Apache-2.0
/* Pages of up to 100 objects come until the stream ends; no page at all is a list, too. */
#include "liaison/cluster/schema_list.h"

#include "liaison/cluster/schema_request.h"
#include "liaison/own.h"
#include "proto/message_read.h"

#include <stdlib.h>

#define LIST_NS UINT64_C(30000000000)

void schema_list_close(struct schema_list **list)
{
    struct schema_list *closed = *list;
    *list = NULL;
    if (closed != NULL) {
        call_cancel(&closed->call);
        loop_reap(closed->setup.loop, closed, free);
    }
}

static void finish(struct schema_list *list, const struct error *why)
{
    struct schema_list *closed = list;
    schema_list_close(&closed);
    list->setup.on_end(list->setup.owner, list, why);
}

static void on_message(void *owner, struct call *call, struct msg *msg)
{
    struct schema_list *list = owner;
    struct error why;
    Banyandb__Schema__V1__ListSchemasResponse *page =
        (Banyandb__Schema__V1__ListSchemasResponse *)message_read(
            msg_bytes(msg), &banyandb__schema__v1__list_schemas_response__descriptor, &why);
    msg_release(&msg);
    (void)call;
    if (page == NULL) {
        const struct error said = why;
        error_set(&why, said.code, "ListSchemas %s: %s", schema_request_kind(list->setup.kind),
                  said.text);
        finish(list, &why);
        return;
    }
    for (size_t i = 0; i < page->n_properties; i++) {
        const int64_t delete_time = i < page->n_delete_times ? page->delete_times[i] : 0;
        list->setup.on_object(list->setup.owner, list, page->properties[i], delete_time);
    }
    banyandb__schema__v1__list_schemas_response__free_unpacked(page, NULL);
}

static void on_end(void *owner, struct call *call, const struct error *status)
{
    struct schema_list *list = owner;
    struct error why;
    (void)call;
    list->call = NULL;
    error_set(&why, status->code, "ListSchemas %s: %s", schema_request_kind(list->setup.kind),
              status->text);
    finish(list, status->code == ERROR_NONE ? NULL : &why);
}

struct schema_list *schema_list_open(const struct schema_list_setup *setup)
{
    static const struct call_events events = {.on_message = on_message, .on_end = on_end};
    const struct call_options options = {
        .path = "/banyandb.schema.v1.SchemaManagementService/ListSchemas",
        .deadline = loop_now(setup->loop) + LIST_NS,
        .charge = setup->charge,
    };
    struct schema_list *list = own_array(1, sizeof *list);
    list->setup = *setup;
    list->call = call_open(setup->link, &options, &events, list);
    const struct slice request = schema_request_list(setup->kind, setup->id);
    call_send(list->call, request, true);
    free((void *)(uintptr_t)request.ptr);
    return list;
}
