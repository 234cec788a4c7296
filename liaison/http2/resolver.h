// SPDX-License-Identifier: Apache-2.0
/*
 * Names to addresses without ever blocking: one c-ares channel whose sockets and time-outs are the
 * loop's events. It reads /etc/hosts and /etc/resolv.conf when it is made.
 */
#pragma once

#include "frame/charge.h"
#include "frame/error.h"
#include "liaison/loop.h"

struct ares_channeldata;
struct resolver;

/* `search`: names that are not found as they stand are tried in the system's search domains. NULL:
 * err tells. */
struct resolver *resolver_new(struct loop *loop, bool search,
                              struct charge *charge /* borrow: outlives it; may be NULL */,
                              struct error *err) MUST_CHECK;
/* Queries under way end with ARES_EDESTRUCTION before it returns. Not from inside a c-ares
 * callback: there, give it to resolver_reap. NULLs the pointer. */
void resolver_free(struct resolver **resolver);
void resolver_reap(struct resolver **resolver);

/* For ares_getaddrinfo, ares_query and the like; call resolver_kick after each. */
struct ares_channeldata *resolver_channel(struct resolver *resolver);
void resolver_kick(struct resolver *resolver);
