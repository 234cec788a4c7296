// SPDX-License-Identifier: Apache-2.0
/* Few at a time: one for each time that a peer drained, until its last call ends. */
#include "liaison/cluster/old_links.h"

#include "liaison/container_of.h"
#include "liaison/own.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static void drop(struct old_link *old)
{
    LIST_REMOVE(old, entry);
    link_close(&old->link);
    free(old);
}

static void run_sweep(struct loop_task *task)
{
    struct old_links *links = container_of(task, struct old_links, sweep);
    struct old_link *next;
    for (struct old_link *old = LIST_FIRST(&links->list); old != NULL; old = next) {
        next = LIST_NEXT(old, entry);
        if (link_calls(old->link) == 0) {
            drop(old);
        }
    }
}

void old_links_init(struct old_links *links, struct loop *loop)
{
    *links = (struct old_links){.loop = loop, .sweep = {.run = run_sweep}};
    LIST_INIT(&links->list);
}

void old_links_fini(struct old_links *links)
{
    struct old_link *next;
    for (struct old_link *old = LIST_FIRST(&links->list); old != NULL; old = next) {
        next = LIST_NEXT(old, entry);
        drop(old);
    }
}

void old_links_add(struct old_links *links, struct link *link, bool doubted)
{
    struct old_link *old = own_array(1, sizeof *old);
    old->link = link;
    old->doubted_at = doubted ? loop_now(links->loop) : 0;
    LIST_INSERT_HEAD(&links->list, old, entry);
    old_links_sweep(links);
}

void old_links_trust(struct old_links *links)
{
    struct old_link *old;
    LIST_FOREACH (old, &links->list, entry) {
        old->doubted_at = 0;
    }
}

void old_links_fail(struct old_links *links, const struct error *why)
{
    struct old_link *next;
    for (struct old_link *old = LIST_FIRST(&links->list); old != NULL; old = next) {
        next = LIST_NEXT(old, entry);
        if (old->doubted_at == 0) {
            continue;
        }
        if (link_heard_at(old->link) > old->doubted_at) {
            old->doubted_at = loop_now(links->loop);
            continue;
        }
        struct error lost = {.code = ERROR_UNAVAILABLE};
        memcpy(lost.text, why->text, sizeof lost.text);
        link_fail(&old->link, &lost);
        drop(old);
    }
}

void old_links_sweep(struct old_links *links)
{
    if (!LIST_EMPTY(&links->list)) {
        loop_defer(links->loop, &links->sweep);
    }
}

void old_links_drop(struct old_links *links, const struct link *link)
{
    struct old_link *old;
    LIST_FOREACH (old, &links->list, entry) {
        if (old->link == link) {
            drop(old);
            return;
        }
    }
}

size_t old_links_count(const struct old_links *links)
{
    const struct old_link *old;
    size_t count = 0;
    LIST_FOREACH (old, &links->list, entry) {
        count++;
    }
    return count;
}
