// SPDX-License-Identifier: Apache-2.0
/* A new roster is made from scratch each time and compared with the old one: there is no list of
 * changes to get wrong. */
#include "liaison/cluster/roster.h"

#include "liaison/own.h"

#include <stdlib.h>
#include <string.h>

static struct member *find(const struct roster *roster, const char *name)
{
    for (size_t i = 0; i < roster->count; i++) {
        if (strcmp(roster->members[i].name, name) == 0) {
            return &roster->members[i];
        }
    }
    return NULL;
}

static struct member *grow(struct roster *roster)
{
    roster->members = own_grow(roster->members, roster->count + 1, sizeof *roster->members);
    return &roster->members[roster->count++];
}

static bool is_data_node(const Banyandb__Database__V1__Node *node)
{
    bool has_role = false;
    for (size_t i = 0; i < node->n_roles; i++) {
        has_role = has_role || node->roles[i] == BANYANDB__DATABASE__V1__ROLE__ROLE_DATA;
    }
    return has_role && node->grpc_address[0] != '\0';
}

static void add_reached(struct roster *roster, const Banyandb__Database__V1__Node *node)
{
    if (!is_data_node(node)) {
        return;
    }
    if (find(roster, node->metadata->name) != NULL) {
        roster->duplicates++;
        return;
    }
    member_init(grow(roster), node);
}

/* Its name is not known, so its address stands for it. */
static void add_unreached(struct roster *roster, const char *address)
{
    if (find(roster, address) == NULL) {
        *grow(roster) = (struct member){.name = own_text(address),
                                        .address = own_text(address),
                                        .labels = own_array(1, sizeof(struct label))};
    }
}

/* A member that is listed again but does not answer yet is known better by what it was. */
static bool is_former(const struct roster *roster, const char *address)
{
    for (size_t i = 0; i < roster->count; i++) {
        if (strcmp(roster->members[i].address, address) == 0) {
            return true;
        }
    }
    return false;
}

static void add_left(struct roster *roster, const struct roster *before, int64_t now,
                     int64_t forget_after)
{
    for (size_t i = 0; i < before->count; i++) {
        const struct member *member = &before->members[i];
        const int64_t left_at = member->left_at == 0 ? now : member->left_at;
        if (member->reached && find(roster, member->name) == NULL && now - left_at < forget_after) {
            struct member *left = grow(roster);
            member_copy(member, left);
            left->left_at = left_at;
        }
    }
}

static bool is_same(const struct roster *a, const struct roster *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) {
        same = member_equal(&a->members[i], &b->members[i]);
    }
    return same;
}

bool roster_update(struct roster *roster, const struct discovery *discovery, int64_t now,
                   int64_t forget_after)
{
    struct roster made = {.changed_at = now};
    for (size_t i = 0; i < discovery_count(discovery); i++) {
        const struct place *place = discovery_at(discovery, i);
        if (place_node(place) != NULL) {
            add_reached(&made, place_node(place));
        }
    }
    add_left(&made, roster, now, forget_after);
    for (size_t i = 0; i < discovery_count(discovery); i++) {
        const struct place *place = discovery_at(discovery, i);
        if (place_node(place) == NULL && !is_former(&made, place_address(place))) {
            add_unreached(&made, place_address(place));
        }
    }
    if (made.count > 1) {
        qsort(made.members, made.count, sizeof *made.members, member_by_name);
    }
    const bool changed = !is_same(&made, roster);
    if (!changed) {
        made.changed_at = roster->changed_at;
    }
    roster_fini(roster);
    *roster = made;
    return changed;
}

int64_t roster_next_forgotten(const struct roster *roster, int64_t forget_after)
{
    int64_t next = 0;
    for (size_t i = 0; i < roster->count; i++) {
        const int64_t left_at = roster->members[i].left_at;
        if (left_at != 0 && (next == 0 || left_at + forget_after < next)) {
            next = left_at + forget_after;
        }
    }
    return next;
}

struct member *roster_copy(const struct roster *roster)
{
    struct member *copy = own_array(roster->count + 1, sizeof *copy);
    for (size_t i = 0; i < roster->count; i++) {
        member_copy(&roster->members[i], &copy[i]);
    }
    return copy;
}

void roster_fini(struct roster *roster)
{
    for (size_t i = 0; i < roster->count; i++) {
        member_fini(&roster->members[i]);
    }
    free(roster->members);
    *roster = (struct roster){0};
}

struct roster_counts roster_counts(const struct roster *roster)
{
    struct roster_counts counts = {0};
    for (size_t i = 0; i < roster->count; i++) {
        const struct member *member = &roster->members[i];
        counts.unreached += member->reached ? 0 : 1;
        counts.left += member->left_at != 0 ? 1 : 0;
        counts.listed += member_is_askable(member) ? 1 : 0;
    }
    return counts;
}
