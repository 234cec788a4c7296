// SPDX-License-Identifier: Apache-2.0
/* From a member to the struct that embeds it: how whoever embeds a task, a timer or a session finds
 * himself when it is called. */
#pragma once

#include <stddef.h>

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))
