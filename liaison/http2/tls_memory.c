// SPDX-License-Identifier: Apache-2.0
/* Sizes as malloc has them, its own word in front included. */
#include "liaison/http2/tls_memory.h"

#include <openssl/crypto.h>

#include <malloc.h>
#include <stdlib.h>

static _Thread_local size_t taken;

static size_t held(void *memory)
{
    return memory == NULL ? 0 : malloc_usable_size(memory) + sizeof(size_t);
}

/* OpenSSL tells where it asks from, and expects NULL for 0 bytes. */

static void *take(size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    void *memory = size == 0 ? NULL : malloc(size);
    taken += held(memory);
    return memory;
}

static void give_back(void *memory, const char *file, int line)
{
    (void)file;
    (void)line;
    taken -= held(memory);
    free(memory);
}

static void *take_again(void *memory, size_t size, const char *file, int line)
{
    if (size == 0) {
        give_back(memory, file, line);
        return NULL;
    }
    const size_t before = held(memory);
    void *moved = realloc(memory, size);
    if (moved != NULL) {
        taken += held(moved) - before;
    }
    return moved;
}

bool tls_memory_count(void)
{
    return CRYPTO_set_mem_functions(take, take_again, give_back) == 1;
}

size_t tls_memory_taken(void)
{
    return taken;
}
