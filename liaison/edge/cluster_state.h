// SPDX-License-Identifier: Apache-2.0
/*
 * banyandb.database.v1.ClusterStateService: which data nodes there are and which take queries.
 *
 * Upstream's keys: "tire1" are liaisons, of which this one knows none, "tire2" data nodes. A node
 * is active when an executor has a healthy connection to it, else evictable.
 */
#pragma once

#include "liaison/edge/service.h"
#include "liaison/query/survey.h"

/* The edge's: begins a survey of its executors on its loop. */
void edge_survey(struct edge *edge,
                 void (*on_done)(void *owner, const struct survey_result *result), void *owner);
