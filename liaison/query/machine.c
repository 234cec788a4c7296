// SPDX-License-Identifier: Apache-2.0
/*
 * /proc/self/cgroup has a line "0::<path>" for version 2. Inside a container with a name space of
 * its own the path is "/", and the files of the mount's root are the container's.
 */
#include "liaison/query/machine.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GROUP_PREFIX   "0::"
#define PATH_MAX_BYTES 4096

size_t machine_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (size_t)pages * (size_t)size : 0;
}

/* The first line that begins so, without that and the newline. */
static bool read_line(const char *path, const char *prefix, char line[PATH_MAX_BYTES])
{
    FILE *file = fopen(path, "re");
    bool found = false;
    while (file != NULL && !found && fgets(line, PATH_MAX_BYTES, file) != NULL) {
        found = strncmp(line, prefix, strlen(prefix)) == 0;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    if (found) {
        line[strcspn(line, "\n")] = '\0';
        memmove(line, line + strlen(prefix), strlen(line + strlen(prefix)) + 1);
    }
    return found;
}

/* "max" and what cannot be read set no limit. */
static size_t limit_of(const char *root, const char *group, size_t otherwise)
{
    char path[2 * PATH_MAX_BYTES];
    char line[PATH_MAX_BYTES];
    (void)snprintf(path, sizeof path, "%s/sys/fs/cgroup%s/memory.max", root, group);
    if (!read_line(path, "", line) || line[0] < '0' || line[0] > '9') {
        return otherwise;
    }
    unsigned long long limit = strtoull(line, NULL, 10);
    return limit < otherwise ? (size_t)limit : otherwise;
}

size_t machine_group_limit(const char *root, size_t machine)
{
    char path[PATH_MAX_BYTES];
    char group[PATH_MAX_BYTES];
    (void)snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (!read_line(path, GROUP_PREFIX, group)) {
        return machine;
    }
    size_t limit = machine;
    for (char *end = strrchr(group, '/'); end != NULL; end = strrchr(group, '/')) {
        limit = limit_of(root, strcmp(group, "/") == 0 ? "" : group, limit);
        *end = '\0';
    }
    return limit_of(root, "", limit);
}
