// SPDX-License-Identifier: Apache-2.0
#include "liaison/query/peers.h"

#include "liaison/own.h"

#define SETTLE_NS 3000000000u /* how long first connections may hold queries up */

struct peer {
    struct node *node; /* own */
    bool leaving;      /* not in the world any more; closed when its calls have ended */
    bool settled;      /* it has been up, or failed once */
};

static void drop(struct peers *peers, size_t i)
{
    node_close(&peers->list[i].node);
    peers->list[i] = peers->list[--peers->count];
}

static void on_state(void *owner, struct node *node)
{
    struct peers *peers = owner;
    for (size_t i = 0; i < peers->count; i++) {
        if (peers->list[i].node == node && node_state(node) != NODE_PROBING) {
            peers->list[i].settled = true;
        }
    }
    if (peers->on_change != NULL) {
        peers->on_change(peers->owner);
    }
}

void peers_init(struct peers *peers)
{
    peers->setup.on_state = on_state;
    peers->setup.owner = peers;
    peers->list = NULL;
    peers->count = 0;
    peers->settled_at = UINT64_MAX; /* until there is a world */
}

void peers_close(struct peers *peers)
{
    while (peers->count > 0) {
        drop(peers, 0);
    }
}

void peers_fini(struct peers *peers)
{
    free(peers->list);
    peers->list = NULL;
}

static struct peer *find(const struct peers *peers, const char *name)
{
    for (size_t i = 0; i < peers->count; i++) {
        struct peer *peer = &peers->list[i];
        if (!peer->leaving && strcmp(node_name(peer->node), name) == 0) {
            return peer;
        }
    }
    return NULL;
}

struct node *peers_node(const struct peers *peers, const char *name)
{
    const struct peer *peer = find(peers, name);
    return peer == NULL ? NULL : peer->node;
}

bool peers_are_settled(const struct peers *peers)
{
    for (size_t i = 0; i < peers->count; i++) {
        if (!peers->list[i].settled && !peers->list[i].leaving) {
            return loop_now(peers->setup.loop) >= peers->settled_at;
        }
    }
    return true;
}

static void add(struct peers *peers, const struct member *member)
{
    peers->list = own_grow(peers->list, peers->count + 1, sizeof *peers->list);
    peers->list[peers->count++] = (struct peer){.node = node_open(&peers->setup, member)};
}

void peers_follow(struct peers *peers, const struct world *world)
{
    if (peers->settled_at == UINT64_MAX) {
        peers->settled_at = loop_now(peers->setup.loop) + SETTLE_NS;
    }
    for (size_t i = 0; i < peers->count; i++) {
        struct peer *peer = &peers->list[i];
        const struct member *member = world_member(world, node_name(peer->node));
        peer->leaving = peer->leaving || member == NULL || !member_is_askable(member) ||
                        strcmp(member->address, node_address(peer->node)) != 0;
    }
    for (size_t i = 0; i < world->member_count; i++) {
        const struct member *member = &world->members[i];
        if (member_is_askable(member) && find(peers, member->name) == NULL) {
            add(peers, member);
        }
    }
    peers_sweep(peers);
}

void peers_sweep(struct peers *peers)
{
    for (size_t i = peers->count; i-- > 0;) {
        if (peers->list[i].leaving && node_calls(peers->list[i].node) == 0) {
            drop(peers, i);
        }
    }
}

size_t peers_calls(const struct peers *peers)
{
    size_t calls = 0;
    for (size_t i = 0; i < peers->count; i++) {
        calls += node_calls(peers->list[i].node);
    }
    return calls;
}

size_t peers_links(const struct peers *peers)
{
    size_t links = 0;
    for (size_t i = 0; i < peers->count; i++) {
        links += node_links(peers->list[i].node);
    }
    return links;
}

void peers_report(const struct peers *peers, struct survey_part *part)
{
    part->nodes = own_array(peers->count, sizeof *part->nodes);
    for (size_t i = 0; i < peers->count; i++) {
        const struct peer *peer = &peers->list[i];
        if (!peer->leaving) {
            part->nodes[part->count++] = (struct survey_node){
                .name = own_text(node_name(peer->node)), .report = node_report(peer->node)};
        }
    }
}
