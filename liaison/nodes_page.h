// SPDX-License-Identifier: Apache-2.0
/*
 * The data nodes as JSON, for people and dashboards: GET /nodes of the admin port.
 *
 *     {"nodes": [{"name", "address", "state", "since", "last_error", "last_error_at", "breaker",
 *                 "calls", "frame_version", "executors", "executors_up", "labels", "created_at"}]}
 *
 * Every executor has connections of its own, so `state` is the worst of theirs: "down", "probing"
 * or "up"; before them stand "unreached" (listed, but it never said who it is) and "left" (not
 * listed any more; missed until --node-forget-after). `since` and `last_error` are the latest;
 * calls are added up. Moments are RFC 3339; what is not known is left out.
 */
#pragma once

#include "liaison/query/survey.h"

/* Freed by the caller. */
char *nodes_page_text(const struct survey_result *result);
