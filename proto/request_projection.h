// SPDX-License-Identifier: Apache-2.0
/*
 * The tags and fields that a group's nodes are asked for: the client's, and what the merge needs
 * besides. Of several groups each is asked for what its measure has.
 *
 *     ROWS        client's, hidden order tag, group keys │ client's, hidden top field
 *     PARTIALS    client's; nodes add the keys           │ client's; nodes add the aggregated one
 *     FOLD        client's, hidden order tag, group keys │ the aggregated field alone
 *
 * A node refuses to be asked for nothing. One of several groups may have none of the names that are
 * projected: its rows belong to the answer, all nulls, so it is asked for what is not shown.
 */
#pragma once

#include "proto/request.h"

/* Asks for something that the answer does not show, to get rows at all. */
void request_projection_any(const struct request *request,
                            const Banyandb__Database__V1__Measure *measure,
                            Banyandb__Measure__V1__QueryRequest *asked, struct arena *arena);
/* NULL: none. What is not the client's own message lies in the region. */
Banyandb__Model__V1__TagProjection *
request_projection_tags(const struct request *request,
                        const Banyandb__Database__V1__Measure *measure, struct arena *arena);
Banyandb__Measure__V1__QueryRequest__FieldProjection *
request_projection_fields(const struct request *request,
                          const Banyandb__Database__V1__Measure *measure, struct arena *arena);
