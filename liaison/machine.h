// SPDX-License-Identifier: Apache-2.0
/*
 * How much memory and how many processors there are for this process: the machine's, or less where
 * control groups (version 2) say so. A group is bound by its own limit and by those of all groups
 * around it.
 */
#pragma once

#include <stddef.h>

/* `root` is put before all paths: "" but for tests. `machine` bytes when no group says less. */
size_t machine_group_limit(const char *root, size_t machine);
/* Cores that it may use at a time, whole ones, rounded up: `machine` when no group says less. */
size_t machine_group_cores(const char *root, size_t machine);
/* Processors of the machine that this process may run on, at least 1. */
size_t machine_cores(void);
/* Bytes of the machine. */
size_t machine_memory(void);
