// SPDX-License-Identifier: Apache-2.0
/*
 * banyandb.database.v1.NodeQueryService: who we are.
 *
 * The name is the one by which we call ourselves to data nodes,
 * <host>:<--liaison-server-grpc-port>, as the Go liaison's; nobody listens on that port here, so
 * grpc_address is the public one. No role is claimed: a Go liaison that finds ROLE_LIAISON in its
 * discovery sends writes there and waits for it when schemas change, and a program that only
 * answers queries would take part in neither.
 */
#pragma once

#include "liaison/edge/service.h"
#include "liaison/options/options.h"

/* The edge's. */
const struct options *edge_options(const struct edge *edge);
int64_t edge_started_at(const struct edge *edge); /* ns since the epoch */
