// SPDX-License-Identifier: Apache-2.0
/*
 * Discovery mode `dns`: SRV records of the configured names, asked again and again.
 *
 *     name ──SRV──▶ targets ─┐
 *     name ──SRV──▶ targets ─┴▶ one list of addresses, each once, in the order of the names
 *
 * Priorities and weights do not count: every target is a node. A name that fails keeps its last
 * good answer; while no name has ever had one there is no list, only an error. Targets are complete
 * names, so they are dialled with a dot at the end, and no search domain is tried on them. Nodes
 * that do not answer are asked again with the back-off of mode `file` (the Go liaison asks them
 * every second for ever), with the CA file of the name that they came from.
 */
#pragma once

#include "liaison/cluster/discovery_file.h"
#include "liaison/loop.h"
#include "liaison/options/options.h"

struct discovery_dns;

struct discovery_dns_setup {
    struct loop *loop;             /* borrow */
    const struct options *options; /* borrow */
    /* After each round, from the loop: the list as it is now (borrowed), or why there is none.
     * `why` may come beside a list: some names have failed. */
    void (*on_list)(void *owner, const struct discovery_file *list, const struct error *why);
    void *owner; /* borrow */
};

struct discovery_dns *discovery_dns_open(const struct discovery_dns_setup *setup);
void discovery_dns_close(struct discovery_dns **dns);
