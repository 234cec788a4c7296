// SPDX-License-Identifier: Apache-2.0
/*
 * The entities of a TopN answer: each (group, tags) once, with what is known of its values.
 *
 *     key   tag's name │ tag's value │ … │ group      spelled (merge/tuple.h)
 *
 * Entities of different groups are different entities. The tags' names belong to the key: they are
 * the same in a group, and where they are not, a schema has changed, nothing depends on which of
 * two nodes was heard first.
 */
#pragma once

#include "merge/group.h"
#include "merge/reduce.h"
#include "merge/topn_plan.h"
#include "merge/tuple.h"

struct topn_entity {
    struct group group; /* first */
    struct topn_entity *next;
    size_t place;           /* in the order in which entities were met */
    size_t of_group;        /* the group asked */
    bool has;               /* a value has been taken */
    union topn_number best; /* of the values taken */
    struct reduce total;
    union topn_number result; /* after topn_entity_close */
};

struct topn_entities {
    const struct topn_plan *plan; /* borrow: outlives them */
    struct arena *arena;          /* borrow: outlives them */
    struct group_table table;
    struct topn_entity *first; /* borrow: region */
    struct topn_entity **last; /* borrow: where the next one is hung */
};

void topn_entity_init(struct topn_entities *entities, const struct topn_plan *plan,
                      struct arena *arena);

/* The entity of these tags, which the tuple holds; it is put there when it was not. */
struct topn_entity *topn_entity_put(struct topn_entities *entities, struct tuple *tags,
                                    size_t group);

/* One more value of the entity. */
void topn_entity_take(struct topn_entities *entities, struct topn_entity *entity,
                      union topn_number value);

/* No more values come: what is answered of them. */
void topn_entity_close(struct topn_entities *entities, struct topn_entity *entity);
struct cell topn_entity_result(const struct topn_entities *entities,
                               const struct topn_entity *entity);

/* The spelled tags: name, value, name, value. */
struct slice topn_entity_tags(const struct topn_entity *entity);

/* Does a come before b in the answer? By result, then best value, then tags, then group. */
bool topn_entity_before(const struct topn_entities *entities, const struct topn_entity *a,
                        const struct topn_entity *b);
