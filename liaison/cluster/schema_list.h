// SPDX-License-Identifier: Apache-2.0
/* One ListSchemas call: all objects of a kind, or one by its id. */
#pragma once

#include "liaison/http2/link.h"
#include "proto/catalog.h"

#include <sys/queue.h>

struct schema_list {
    LIST_ENTRY(schema_list) entry; /* its owner's */
    struct schema_list_setup {
        struct loop *loop;     /* borrow */
        struct link *link;     /* borrow: outlives the list */
        struct charge *charge; /* borrow: outlives the loop's reaping */
        enum schema_kind kind;
        const char *id; /* borrow during schema_list_open; NULL = all */
        bool asked;     /* the owner's note: it was asked for by id */
        void (*on_object)(void *owner, const struct schema_list *list,
                          const Banyandb__Property__V1__Property *property, int64_t delete_time);
        /* Last; NULL = the list is complete. The list must not be used afterwards. */
        void (*on_end)(void *owner, struct schema_list *list, const struct error *why);
        void *owner; /* borrow */
    } setup;
    struct call *call; /* own */
};

struct schema_list *schema_list_open(const struct schema_list_setup *setup);
/* No event comes any more. NULLs the pointer; NULL is a no-op. */
void schema_list_close(struct schema_list **list);
