// SPDX-License-Identifier: Apache-2.0
/* The bytes of the few requests that a schema server gets from us, each freed by the caller. */
#pragma once

#include "frame/slice.h"
#include "proto/catalog.h"
#include "proto/schema.pb-c.h"

/* "indexRuleBinding" and the like: what the registry calls a kind. */
const char *schema_request_kind(enum schema_kind kind);

/* ListSchemasRequest: all objects of a kind, or the one of this id. */
struct slice schema_request_list(enum schema_kind kind, const char *id);
/* WatchSchemasRequest: whole objects newer than this revision, 0 = all. */
struct slice schema_request_news(int64_t revision);
/* WatchSchemasRequest: everything, but only what tells an object's identity and age. */
struct slice schema_request_digests(void);
