// SPDX-License-Identifier: Apache-2.0
/* The checks of a request that need nothing but the request, in the Go liaison's order. */
#pragma once

#include "frame/error.h"
#include "proto/measure.pb-c.h"

/* More names than any schema has are refused, because each is compared with all of a schema. */
#define REQUEST_CHECK_MAX_NAMES 10000

bool request_check(const Banyandb__Measure__V1__QueryRequest *message,
                   struct error *err) MUST_CHECK;
