// SPDX-License-Identifier: Apache-2.0
/* Members are copied between the control plane's table, the worlds and the executors' nodes. */
#include "liaison/cluster/member.h"

#include "liaison/own.h"
#include "proto/moment.h"

#include <stdlib.h>
#include <string.h>

static char *copy_text(const char *text)
{
    return own_text(text == NULL ? "" : text);
}

static int64_t nanoseconds(const Google__Protobuf__Timestamp *at)
{
    return at == NULL ? 0 : moment_nanos(moment_of(at));
}

void member_init(struct member *member, const Banyandb__Database__V1__Node *node)
{
    *member = (struct member){
        .name = copy_text(node->metadata == NULL ? NULL : node->metadata->name),
        .address = copy_text(node->grpc_address),
        .label_count = node->n_labels,
        .labels = own_array(node->n_labels + 1, sizeof *member->labels),
        .created_at = nanoseconds(node->created_at),
        .reached = true,
        .said_len = banyandb__database__v1__node__get_packed_size(node),
    };
    member->said = own_array(1, member->said_len + 1);
    banyandb__database__v1__node__pack(node, member->said);
    for (size_t i = 0; i < node->n_labels; i++) {
        member->labels[i].key = copy_text(node->labels[i]->key);
        member->labels[i].value = copy_text(node->labels[i]->value);
    }
}

void member_copy(const struct member *member, struct member *copy_out)
{
    *copy_out = *member;
    copy_out->name = copy_text(member->name);
    copy_out->address = copy_text(member->address);
    copy_out->said = own_array(1, member->said_len + 1);
    if (member->said_len > 0) {
        memcpy(copy_out->said, member->said, member->said_len);
    }
    copy_out->labels = own_array(member->label_count + 1, sizeof *member->labels);
    for (size_t i = 0; i < member->label_count; i++) {
        copy_out->labels[i].key = copy_text(member->labels[i].key);
        copy_out->labels[i].value = copy_text(member->labels[i].value);
    }
}

void member_fini(struct member *member)
{
    for (size_t i = 0; i < member->label_count; i++) {
        free(member->labels[i].key);
        free(member->labels[i].value);
    }
    free(member->labels);
    free(member->said);
    free(member->name);
    free(member->address);
    *member = (struct member){0};
}

const char *member_label(const struct member *member, const char *key)
{
    for (size_t i = 0; i < member->label_count; i++) {
        if (strcmp(member->labels[i].key, key) == 0) {
            return member->labels[i].value;
        }
    }
    return NULL;
}

const char *member_tier(const struct member *member)
{
    const char *type = member_label(member, "type");
    return type == NULL ? "" : type;
}

int member_by_name(const void *a, const void *b)
{
    const struct member *left = a;
    const struct member *right = b;
    return strcmp(left->name, right->name);
}

/* Labels come from a map: in any order. */
static bool labels_equal(const struct member *a, const struct member *b)
{
    bool equal = a->label_count == b->label_count;
    for (size_t i = 0; equal && i < a->label_count; i++) {
        const char *other = member_label(b, a->labels[i].key);
        equal = other != NULL && strcmp(other, a->labels[i].value) == 0;
    }
    return equal;
}

bool member_equal(const struct member *a, const struct member *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->address, b->address) == 0 &&
           a->created_at == b->created_at && a->reached == b->reached && a->left_at == b->left_at &&
           labels_equal(a, b);
}
