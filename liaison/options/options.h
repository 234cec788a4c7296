// SPDX-License-Identifier: Apache-2.0
/*
 * What the operator asked for. The flags, their defaults and their help are the rows of
 * options_table.h; each row is a field here, named like the flag with _ for -.
 *
 *     command line  >  environment (BYDB_GRPC_PORT)  >  default
 *
 * Durations are int64_t nanoseconds, as loop_now counts; sizes are bytes. Read once at start and
 * never changed, so every thread may look.
 */
#pragma once

#include "frame/error.h"

#include <stddef.h>
#include <stdint.h>

enum aggregation_mode { AGGREGATION_EXACT, AGGREGATION_ROWS, AGGREGATION_PUSHDOWN };
enum topn_mode { TOPN_DISTINCT, TOPN_RANGE };
enum mean_floor { MEAN_FLOOR_UPSTREAM, MEAN_FLOOR_NONE };
enum incomplete_mode { INCOMPLETE_MARK, INCOMPLETE_FAIL, INCOMPLETE_SERVE };
enum discovery_mode { DISCOVERY_DNS, DISCOVERY_FILE, DISCOVERY_NONE };
enum host_provider { HOST_PROVIDER_HOSTNAME, HOST_PROVIDER_IP, HOST_PROVIDER_FLAG };

struct option_list {
    size_t count;
    char **items; /* own */
};

#define OPTION_FIELD_BOOL     bool
#define OPTION_FIELD_INT      int64_t
#define OPTION_FIELD_PORT     uint16_t
#define OPTION_FIELD_RATIO    double
#define OPTION_FIELD_DURATION int64_t
#define OPTION_FIELD_SIZE     uint64_t
#define OPTION_FIELD_STRING   char *
#define OPTION_FIELD_LIST     struct option_list
#define OPTION_FIELD_ENUM     int

struct options { /* in the table's order: NOLINT(clang-analyzer-optin.performance.Padding) */
#define SECTION(title)
#define IGNORED_PREFIX(prefix)
#define OPTION(type, field, value, status, form, help) OPTION_FIELD_##type field;
#include "liaison/options/options_table.h"

    /* Derived. */
    unsigned frame_versions; /* --measure-frame-versions as enum decode_versions bits */
    char *node_name;         /* own: how we call ourselves to data nodes, "host:18912" */
    char *node_tier;         /* own: our own label `type`, or "" */

    bool help_wanted;            /* -h, --help: print options_help and end */
    bool version_wanted;         /* -v, --version */
    struct option_list warnings; /* for the log: what was set but does nothing */
};

/* Reads and checks everything. False: err names the flag, the value and what is expected; the
 * options must be finished in any case. argv[1] may be the word "liaison", as the Go binary's. */
bool options_read(struct options *options, int argc, char **argv, char **envp,
                  struct error *err) MUST_CHECK;
void options_fini(struct options *options);

/* The text of --help; freed by the caller. */
char *options_help(void);

/* The name of a configuration file in this directory that the Go liaison would read and we do not
 * ("liaison.yaml", …), or NULL; freed by the caller. */
char *options_unread_file(const char *directory);

/* For timers: milliseconds, rounded up, so that a short wait never becomes none. */
static inline uint64_t duration_ms(int64_t ns)
{
    return ns <= 0 ? 0 : ((uint64_t)ns + 999999) / 1000000;
}
