// SPDX-License-Identifier: Apache-2.0
#include "proto/alloc.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *region_alloc(void *owner, size_t size)
{
    return arena_alloc(owner, size, alignof(max_align_t));
}

static void region_free(void *owner, void *pointer)
{
    (void)owner;
    (void)pointer;
}

ProtobufCAllocator alloc_region(struct arena *arena)
{
    return (ProtobufCAllocator){
        .alloc = region_alloc, .free = region_free, .allocator_data = arena};
}

void *alloc_zeroed(ProtobufCAllocator *allocator, size_t size)
{
    if (allocator != NULL) {
        void *bytes = allocator->alloc(allocator->allocator_data, size);
        return memset(bytes, 0, size);
    }
    void *bytes = calloc(1, size);
    if (bytes == NULL) {
        (void)fprintf(stderr, "out of memory: %zu bytes for a message\n", size);
        abort();
    }
    return bytes;
}
