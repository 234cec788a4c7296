// SPDX-License-Identifier: Apache-2.0
/*
 * Random rows on random nodes, and what a merge of them has to answer, by a model that has all rows
 * in one list: it sorts them by key, node and place, lets the newest of equal records live, and
 * cuts. Each row carries a number of its own, so that it shows which copy came out.
 */
#pragma once

#include "frame/msg.h"
#include "merge/plan.h"

#define TRIAL_NODES 6
#define TRIAL_ROWS  12000

enum trial_kind { TRIAL_NULL, TRIAL_TEXT, TRIAL_NUMBER };

struct trial_row {
    size_t group;
    size_t rank;
    size_t place; /* in the frame */
    int64_t time;
    int64_t version;
    uint64_t series;
    enum trial_kind kind; /* of the order tag */
    char text[12];
    int64_t number;
    int64_t id;
};

struct trial_node {
    size_t group;
    size_t rank;
    size_t first; /* its rows in the trial's list */
    size_t count;
    bool messages; /* tags and fields are TagValue and FieldValue */
    unsigned version;
};

struct trial {
    struct plan plan;
    uint64_t state;
    struct trial_node nodes[TRIAL_NODES];
    size_t node_count;
    struct trial_row rows[TRIAL_ROWS];
    size_t row_count;
};

/* A plan, nodes and rows of at most `most` rows each. */
void trial_random(struct trial *trial, uint64_t seed, size_t most);
/* A node's answer, count 1. Its columns are the tag f.t and the field id. */
struct msg *trial_frame(const struct trial *trial, const struct trial_node *node);
/* The rows of the answer, in its order; returns how many and where they begin in `rows`, which has
 * room for all. */
size_t trial_answer(const struct trial *trial, struct trial_row *rows, size_t *first_out);
