// SPDX-License-Identifier: Apache-2.0
/* MeasureService.Query: frames of nodes, merged row by row into a QueryResponse. */
#pragma once

#include "liaison/query/work.h"

extern const struct work_ops measure_work_ops;
