// SPDX-License-Identifier: Apache-2.0
/*
 * May the rows of a request be asked for part by part of its time range?
 *
 * Tags of the entity and tags without an index rule belong to a row, and come to the same however
 * the range is cut. An indexed tag that is not in the entity belongs to its series: a data node
 * keeps one value of it for each segment, and a question is answered with what it finds in all
 * segments that the range touches. So rows with such a tag, or chosen by one, may be asked for in
 * parts only when one segment has the whole range. In index mode a series has one row, the newest
 * of the range, and may not.
 *
 * Segments begin at the full hour or at midnight, in the time zone of the data nodes, which is not
 * known here; so do they when their interval was changed, and in all stages. All zones are whole
 * quarters of an hour apart, so what lies in one of those lies in one segment, whoever has it.
 */
#pragma once

#include "proto/request.h"

/* NULL: they may. Otherwise why not, as the end of a sentence, in the region. Of a request whose
 * plan is to FOLD. */
const char *request_parts_obstacle(const struct request *request, const struct catalog *catalog,
                                   struct arena *arena);
