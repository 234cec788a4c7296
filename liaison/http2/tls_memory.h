// SPDX-License-Identifier: Apache-2.0
/*
 * What OpenSSL has allocated. It does so deep inside its calls and tells nobody: so the bytes of
 * each thread are counted, and what a call for one connection has changed is that connection's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Once, before anything of OpenSSL is used and before any thread starts. False: it was used
 * already; nothing is counted then. */
bool tls_memory_count(void);

/* Bytes taken on this thread so far, less those given back; a difference of two is what counts, as
 * this may wrap. */
size_t tls_memory_taken(void);
