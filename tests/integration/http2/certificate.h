// SPDX-License-Identifier: Apache-2.0
/* A certificate for 127.0.0.1 that is its own authority, and its key, in one file. */
#pragma once

#include <stddef.h>

/* Makes both anew and writes them to a new file in /tmp, whose name goes into `path`. */
void certificate_write(char *path, size_t size);
