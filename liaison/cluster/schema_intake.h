// SPDX-License-Identifier: Apache-2.0
/*
 * What schema servers tell goes into one store, whoever tells it: the newest revision wins. What is
 * odd about an object is said in the log, once.
 */
#pragma once

#include "liaison/cluster/known_objects.h"
#include "liaison/log.h"
#include "proto/catalog.h"

/* Embedded by its owner, who reads the store. */
struct schema_intake {
    struct catalog_store *store; /* own */
    struct known_objects known;  /* revisions that are of no use */
    struct log *log;             /* borrow; may be NULL */
};

void schema_intake_init(struct schema_intake *intake, struct log *log);
void schema_intake_fini(struct schema_intake *intake);

struct schema_intake_object {
    const Banyandb__Property__V1__Property *property; /* borrow */
    int64_t delete_time;                              /* 0 = it is live */
    const char *node;                                 /* borrow: who tells it */
    bool asked; /* for this object: a compare, which would ask again */
};

/* True: the catalog has changed. */
bool schema_intake_object(struct schema_intake *intake, const struct schema_intake_object *told);
/* The same of a digest, in which only a deletion is told whole. */
bool schema_intake_digest(struct schema_intake *intake,
                          const Banyandb__Property__V1__Property *property, int64_t delete_time);
/* Whether an object that a digest tells of is worth fetching. */
bool schema_intake_wants(const struct schema_intake *intake, const char *id, int64_t updated_at);
