// SPDX-License-Identifier: Apache-2.0
/* What a snapshot is made of; everybody else uses catalog.h. */
#pragma once

#include "proto/catalog_shelf.h"

/* SCHEMA_KINDS shelves, tombstones included. */
const struct catalog_shelf *catalog_store_shelves(const struct catalog_store *store);
int64_t catalog_store_placement_time(const struct catalog_store *store);
