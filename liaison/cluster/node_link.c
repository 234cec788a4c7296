// SPDX-License-Identifier: Apache-2.0
/* Each connection reads the CA file anew, so a changed one counts from the next connection on. */
#include "liaison/cluster/node_link.h"

#include "liaison/cluster/trust.h"

#include <sys/param.h>

#define LEAST_MESSAGE ((size_t)256 << 20) /* of an answer, whatever the query budget */

static void on_state(void *owner, struct link *link, enum link_state state, const struct error *why)
{
    struct node_link *node_link = owner;
    if (link != node_link->link) {
        if (state == LINK_CLOSED) {
            old_links_drop(&node_link->old, link);
        }
        return;
    }
    switch (state) {
    case LINK_CONNECTING:
        break;
    case LINK_READY:
        node_link->events->on_ready(node_link->owner);
        break;
    case LINK_DRAINING:
        node_link->events->on_draining(node_link->owner);
        break;
    case LINK_CLOSED:
        node_link->events->on_lost(node_link->owner, why);
        break;
    }
}

void node_link_init(struct node_link *node_link)
{
    old_links_init(&node_link->old, node_link->setup->loop);
}

void node_link_fini(struct node_link *node_link)
{
    link_close(&node_link->link);
    old_links_fini(&node_link->old);
}

void node_link_free_tls(struct node_link *node_link)
{
    tls_free(&node_link->tls);
}

bool node_link_connect(struct node_link *node_link, struct error *why)
{
    static const struct link_events events = {.on_state = on_state};
    const struct node_setup *setup = node_link->setup;
    const struct options *options = setup->options;
    const size_t budget = (size_t)options->measure_vectorized_query_memory_mib << 20;
    if (!trust_renew(&node_link->tls, options->data_client_tls, options->data_client_ca_cert,
                     why)) {
        return false;
    }
    node_link->link =
        link_open(setup->loop,
                  &(struct link_options){.address = node_link->address,
                                         .tls = node_link->tls,
                                         .tls_switch = "--data-client-tls",
                                         .connect_timeout_ms = NODE_LINK_CONNECT_MS,
                                         .max_message_bytes = MAX(budget, LEAST_MESSAGE),
                                         .charge = setup->charge,
                                         .live = setup->live},
                  &events, node_link);
    return true;
}

void node_link_retire(struct node_link *node_link, bool doubted)
{
    struct link *link = node_link->link;
    node_link->link = NULL;
    if (link != NULL) {
        old_links_add(&node_link->old, link, doubted);
    }
}

void node_link_trust(struct node_link *node_link)
{
    old_links_trust(&node_link->old);
}

void node_link_fail(struct node_link *node_link, const struct error *why)
{
    old_links_fail(&node_link->old, why);
}

void node_link_close(struct node_link *node_link, const struct error *why)
{
    link_fail(&node_link->link, why);
}

void node_link_sweep(struct node_link *node_link)
{
    old_links_sweep(&node_link->old);
}

size_t node_link_count(const struct node_link *node_link)
{
    return old_links_count(&node_link->old) + (node_link->link == NULL ? 0 : 1);
}
