// SPDX-License-Identifier: Apache-2.0
/*
 * Memory for protobuf-c messages: a region's (freed all at once, so a message is never freed by
 * itself) or the heap's.
 */
#pragma once

#include "merge/arena.h"

#include <protobuf-c/protobuf-c.h>

/* Allocates in the region, frees nothing. The region outlives the allocator. */
ProtobufCAllocator alloc_region(struct arena *arena);

/* Zeroed bytes from the allocator; NULL = the heap, from which protobuf-c frees them with a NULL
 * allocator. Never NULL: an empty heap ends the process. */
void *alloc_zeroed(ProtobufCAllocator *allocator, size_t size);
