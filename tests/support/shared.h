// SPDX-License-Identifier: Apache-2.0
/* Recordings and frames that not everybody has: in the folder that BYDB_SHARED names, else in
 * ../shared beside the repository (SHARED_BESIDE), as shared.py looks for them. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The folder, if it has this part; else NULL, and a note says that it was not looked at. */
static inline const char *shared_folder(const char *part)
{
    const char *named = getenv("BYDB_SHARED");
    const char *folder = named == NULL || named[0] == '\0' ? SHARED_BESIDE : named;
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", folder, part);
    if (access(path, R_OK) == 0) {
        return folder;
    }
    printf("note: there is no %s (BYDB_SHARED): not checked\n", path);
    return NULL;
}
