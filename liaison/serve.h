// SPDX-License-Identifier: Apache-2.0
/* The process's life: starts the threads, waits for a signal, stops in the order that a client
 * notices least. Returns the exit code. */
#pragma once

#include "liaison/options/options.h"

#ifndef BYDB_VERSION
#define BYDB_VERSION "unknown"
#endif

int serve(const struct options *options /* borrow */);
