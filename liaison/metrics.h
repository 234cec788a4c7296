// SPDX-License-Identifier: Apache-2.0
/*
 * Counters, gauges and histograms of the process: one table, relaxed atomics, text exposition.
 *
 *     metrics ─ family (a row of METRICS) ─ series (one for each set of label values) ─ number
 *
 * A series is looked up once and kept (it lives as long as the metrics); adding to it is one
 * atomic instruction. Families with labels hold at most METRICS_MAX_SERIES series; what comes
 * later is counted under "_other", so a client cannot fill memory with invented names.
 *
 * What a thread holds is not counted by atomics at all: each thread tells its own figures now and
 * then (shard), and reading adds the threads up.
 */
#pragma once

#include "frame/charge.h"

#include <stdint.h>

#define METRICS_MAX_SERIES 512
#define METRICS_MAX_LABELS 5

/* X(constant, kind, name, help, label names). COUNTER_SECONDS and HISTOGRAM are given nanoseconds
 * and shown in seconds, as LIVE_MAX is, of which the greatest of all threads is shown. The labels
 * of LIVE are not names but the text of its one series. Names of the Go liaison where there are
 * such.
 */
#define METRICS(X)                                                                                 \
    X(METRIC_STARTED, COUNTER, "banyandb_liaison_grpc_total_started",                              \
      "Queries begun, once for each group.", "group,service,method")                               \
    X(METRIC_FINISHED, COUNTER, "banyandb_liaison_grpc_total_finished",                            \
      "Queries ended, well or not, once for each group.", "group,service,method")                  \
    X(METRIC_ERR, COUNTER, "banyandb_liaison_grpc_total_err",                                      \
      "Queries that failed, once for each group.", "group,service,method")                         \
    X(METRIC_LATENCY, COUNTER_SECONDS, "banyandb_liaison_grpc_total_latency",                      \
      "Seconds spent on queries, added up, once for each group.", "group,service,method")          \
    X(METRIC_NOT_APPLIED, COUNTER, "banyandb_liaison_grpc_schema_status_schema_not_applied_total", \
      "Groups answered SCHEMA_NOT_APPLIED.", "rpc,group,reason")                                   \
    X(METRIC_EXPIRED, COUNTER, "banyandb_liaison_grpc_schema_status_expired_schema_total",         \
      "Groups answered EXPIRED_SCHEMA.", "rpc,group")                                              \
    X(METRIC_PUB_STARTED, COUNTER, "banyandb_queue_pub_total_started",                             \
      "Calls to data nodes begun.", "operation,group,remote_node,remote_role,remote_tier")         \
    X(METRIC_PUB_FINISHED, COUNTER, "banyandb_queue_pub_total_finished",                           \
      "Calls to data nodes ended, well or not.",                                                   \
      "operation,group,remote_node,remote_role,remote_tier")                                       \
    X(METRIC_PUB_LATENCY, HISTOGRAM, "banyandb_queue_pub_total_latency",                           \
      "Seconds that calls to data nodes took.",                                                    \
      "operation,group,remote_node,remote_role,remote_tier")                                       \
    X(METRIC_PUB_ERR, COUNTER, "banyandb_queue_pub_total_err", "Calls to data nodes that failed.", \
      "operation,group,remote_node,remote_role,error_type")                                        \
    X(METRIC_INCOMPLETE, COUNTER, "bydb_incomplete_answers_total",                                 \
      "Answers that lacked data nodes.", "group")                                                  \
    X(METRIC_BAD_TEXTS, COUNTER, "bydb_invalid_utf8_strings_total",                                \
      "Strings in answers that are not UTF-8: clients may refuse the answers.", "")                \
    X(METRIC_REFUSED, COUNTER, "bydb_refused_queries_total",                                       \
      "Queries refused for memory or for lack of a place.", "reason")                              \
    X(METRIC_CUT, COUNTER, "bydb_cut_answers_total",                                               \
      "Answers given up because the client took too little of them.", "")                          \
    X(METRIC_FRAMES, COUNTER, "bydb_frames_decoded_total", "Frames decoded.", "version")           \
    X(METRIC_SLICES, COUNTER, "bydb_aggregation_slices_total",                                     \
      "Parts of a time range that were asked for because all its rows at once did not fit.", "")   \
    X(METRIC_SLICES_AHEAD, COUNTER, "bydb_aggregation_slices_ahead_total",                         \
      "Of those parts, the ones asked before their turn, while others were worked on.", "")        \
    X(METRIC_SLICES_IN_VAIN, COUNTER, "bydb_aggregation_slices_in_vain_total",                     \
      "Questions for parts that were asked before their turn and had to be asked again.", "")      \
    X(METRIC_NODE_UP, GAUGE, "bydb_node_up",                                                       \
      "Executors that have a healthy connection to the node.", "node")                             \
    X(METRIC_SCHEMA_SERVERS, GAUGE, "bydb_schema_servers",                                         \
      "Schema servers by state: known, or complete (their lists are in).", "state")                \
    X(METRIC_MEMBERS, GAUGE, "bydb_data_nodes",                                                    \
      "Data nodes by state: listed, unreached (never said who they are), left.", "state")          \
    X(METRIC_CATALOG, GAUGE, "bydb_catalog_objects", "Schema objects known.", "kind")              \
    X(METRIC_LIVE_MESSAGES, LIVE, "bydb_live_messages", "Received messages alive.", "")            \
    X(METRIC_LIVE_VIEWS, LIVE, "bydb_live_views", "Decoded frames alive.", "")                     \
    X(METRIC_LIVE_REGIONS, LIVE, "bydb_live_regions", "Blocks of regions alive.", "")              \
    X(METRIC_LIVE_RESPONSES, LIVE, "bydb_live_responses", "Blocks of responses alive.", "")        \
    X(METRIC_LIVE_WIRES, LIVE, "bydb_live_wire_buffers", "HTTP/2 and TLS buffers alive.", "")      \
    X(METRIC_LIVE_QUERIES, LIVE, "bydb_live_queries", "Queries alive.", "")                        \
    X(METRIC_LIVE_CALLS, LIVE, "bydb_live_calls", "Query calls to data nodes alive.", "")          \
    X(METRIC_LIVE_EXCHANGES, LIVE, "bydb_live_exchanges", "Client calls alive.", "")               \
    X(METRIC_LIVE_LINKS, LIVE, "bydb_live_links", "Connections to nodes alive.", "")               \
    X(METRIC_CHARGED_MESSAGE, LIVE, "bydb_charged_bytes", METRIC_CHARGED, "kind=\"message\"")      \
    X(METRIC_CHARGED_REGION, LIVE, "bydb_charged_bytes", METRIC_CHARGED, "kind=\"region\"")        \
    X(METRIC_CHARGED_RESPONSE, LIVE, "bydb_charged_bytes", METRIC_CHARGED, "kind=\"response\"")    \
    X(METRIC_CHARGED_WIRE, LIVE, "bydb_charged_bytes", METRIC_CHARGED, "kind=\"wire\"")            \
    X(METRIC_CHARGED_CACHE, LIVE, "bydb_charged_bytes", METRIC_CHARGED, "kind=\"cache\"")          \
    X(METRIC_CHARGED_CATALOG, LIVE, "bydb_charged_bytes", METRIC_CHARGED, "kind=\"catalog\"")      \
    X(METRIC_HELD, HELD, "bydb_held_bytes", "Bytes that the allocator has given out.", "")         \
    X(METRIC_BUDGET, GAUGE, "bydb_budget_bytes",                                                   \
      "What the process may hold; no series: no limit.", "")                                       \
    X(METRIC_TURN_MAX, LIVE_MAX, "bydb_turn_max_seconds",                                          \
      "Longest turn of an executor's loop, of its thread's own time.", "")                         \
    X(METRIC_TURNS, HISTOGRAM, "bydb_turn_seconds",                                                \
      "Turns of executors' loops, by their threads' own time.", "executor")

#define METRIC_CHARGED "Bytes by capacity that queries and connections account for."

#define METRIC_ENUM(constant, kind, name, help, labels) constant,
enum metric { METRICS(METRIC_ENUM) METRIC_COUNT };
#undef METRIC_ENUM

struct metrics;
struct metrics_series;
struct metrics_shard;

struct metrics *metrics_new(void);
void metrics_free(struct metrics **metrics);

/* Why a query was refused for memory or for lack of a place: METRIC_REFUSED's label. */
enum refusal { REFUSED_NO_PLACE, REFUSED_PROCESS_MEMORY, REFUSED_QUERY_MEMORY, REFUSAL_COUNT };
void metrics_refused(struct metrics *metrics, enum refusal reason);

/* The series of these label values, in the order of the family's label names; as many values as
 * there are names. Never NULL; from any thread; takes a lock, so keep the result. */
struct metrics_series *metrics_series(struct metrics *metrics, enum metric metric,
                                      const char *const values[]);
/* From any thread. A NULL series is allowed and counts nothing. */
void metrics_add(struct metrics_series *series, int64_t amount);           /* counters and gauges */
void metrics_set(struct metrics_series *series, int64_t value);            /* gauges */
void metrics_observe(struct metrics_series *series, uint64_t nanoseconds); /* histograms */

/* A thread's place for its LIVE figures; lives as long as the metrics. At most 256 of them. */
struct metrics_shard *metrics_shard(struct metrics *metrics);
/* From the shard's thread: the figure as it is now. */
void metrics_live(struct metrics_shard *shard, enum metric metric, uint64_t value);
/* Everything that a thread holds, at once. */
void metrics_charge(struct metrics_shard *shard, const struct charge *charge);

/* Text exposition 0.0.4; freed by the caller. */
char *metrics_text(struct metrics *metrics);
