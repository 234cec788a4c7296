// SPDX-License-Identifier: Apache-2.0
/*
 * /proc/self/cgroup has a line "0::<path>" for version 2. Inside a container with a name space of
 * its own the path is "/", and the files of the mount's root are the container's.
 */
#include "liaison/machine.h"

#include <sched.h>
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

size_t machine_cores(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
        return (size_t)CPU_COUNT(&allowed);
    }
    const long online = sysconf(_SC_NPROCESSORS_ONLN); /* more than the set can hold */
    return online > 0 ? (size_t)online : 1;
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

/* What a line of digits in a limit's file means. */
typedef unsigned long long meaning(const char *line);

struct limit {
    const char *root;
    const char *file;
    meaning *read;
};

static unsigned long long bytes_of(const char *line)
{
    return strtoull(line, NULL, 10);
}

/* Microseconds of processor time, and the period in which they may be used: whole cores, rounded
 * up, so that a fraction of one is used, too. */
static unsigned long long cores_of(const char *line)
{
    char *rest;
    const unsigned long long quota = strtoull(line, &rest, 10);
    const unsigned long long period = strtoull(rest, NULL, 10);
    return period == 0 || quota == 0 ? 1 : (quota - 1) / period + 1;
}

/* "max" and what cannot be read set no limit. */
static size_t limit_of(const struct limit *limit, const char *group, size_t otherwise)
{
    char path[2 * PATH_MAX_BYTES];
    char line[PATH_MAX_BYTES];
    (void)snprintf(path, sizeof path, "%s/sys/fs/cgroup%s/%s", limit->root, group, limit->file);
    if (!read_line(path, "", line) || line[0] < '0' || line[0] > '9') {
        return otherwise;
    }
    const unsigned long long most = limit->read(line);
    return most < otherwise ? (size_t)most : otherwise;
}

/* The least of this process's group and of those around it. */
static size_t least(const struct limit *limit, size_t machine)
{
    char path[PATH_MAX_BYTES];
    char group[PATH_MAX_BYTES];
    (void)snprintf(path, sizeof path, "%s/proc/self/cgroup", limit->root);
    if (!read_line(path, GROUP_PREFIX, group)) {
        return machine;
    }
    size_t most = machine;
    for (char *end = strrchr(group, '/'); end != NULL; end = strrchr(group, '/')) {
        most = limit_of(limit, strcmp(group, "/") == 0 ? "" : group, most);
        *end = '\0';
    }
    return limit_of(limit, "", most);
}

size_t machine_group_limit(const char *root, size_t machine)
{
    return least(&(struct limit){.root = root, .file = "memory.max", .read = bytes_of}, machine);
}

size_t machine_group_cores(const char *root, size_t machine)
{
    return least(&(struct limit){.root = root, .file = "cpu.max", .read = cores_of}, machine);
}
