// SPDX-License-Identifier: Apache-2.0
/* The catalog that TopN requests ask in tests: see topn_sample.c for its groups and rules. */
#pragma once

#include "proto/catalog.h"

struct catalog *topn_sample_world(void);
