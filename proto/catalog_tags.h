// SPDX-License-Identifier: Apache-2.0
/* What a property says about the schema object in it, without looking into the object's source. */
#pragma once

#include "proto/catalog.h"

/* The tags of a property; texts are borrowed from it. */
struct catalog_tags {
    enum schema_kind kind; /* SCHEMA_KINDS: a kind that a measure liaison ignores */
    struct slice group;
    struct slice name;
    struct slice source; /* NULL ptr = no such tag */
    int64_t updated_at;
    int64_t created_at; /* 0 = not told */
};

struct catalog_tags catalog_tags_of(const Banyandb__Property__V1__Property *property);
