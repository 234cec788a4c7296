// SPDX-License-Identifier: Apache-2.0
/*
 * Checks what one value cannot show, then derives: frame versions as bits, our own node name and
 * tier. Every refusal names the flag, what was found and what is expected.
 */
#include "liaison/options/options_check.h"

#include "frame/decode.h"
#include "liaison/log.h"
#include "liaison/options/option_row.h"
#include "liaison/options/option_value.h"
#include "liaison/own.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool check_range(const char *flag, int64_t value, int64_t least, int64_t most,
                        struct error *err)
{
    if (value >= least && value <= most) {
        return true;
    }
    return error_set(err, ERROR_INVALID_ARGUMENT, "--%s=%lld: expected a number from %lld to %lld",
                     flag, (long long)value, (long long)least, (long long)most);
}

static bool check_numbers(const struct options *o, struct error *err)
{
    return check_range("executors", o->executors, 0, 1024, err) &&
           check_range("allowed-percent", o->allowed_percent, 0, 100, err) &&
           check_range("max-concurrent-queries", o->max_concurrent_queries, 0, 1000000, err) &&
           check_range("topn-max-intervals", o->topn_max_intervals, 1, 1000000, err) &&
           check_range("aggregation-max-slices", o->aggregation_max_slices, 1, 1000000, err) &&
           check_range("measure-vectorized-query-memory-mib",
                       o->measure_vectorized_query_memory_mib, 1, 1 << 20, err) &&
           check_range("max-recv-msg-size", (int64_t)o->max_recv_msg_size, 1, INT32_MAX, err) &&
           check_range("schema-property-client-max-recv-msg-size",
                       (int64_t)o->schema_property_client_max_recv_msg_size, 1, INT32_MAX, err);
}

static bool refuse_duration(const char *flag, int64_t value, const char *expected,
                            struct error *err)
{
    return error_set(err, ERROR_INVALID_ARGUMENT, "--%s=%gs: expected a duration %s", flag,
                     (double)value / 1e9, expected);
}

static bool check_duration(const char *flag, int64_t value, struct error *err)
{
    return value >= 0 || refuse_duration(flag, value, "that is not negative", err);
}

static bool check_positive(const char *flag, int64_t value, struct error *err)
{
    return value > 0 || refuse_duration(flag, value, "above 0", err);
}

static bool check_durations(const struct options *o, struct error *err)
{
    return check_duration("dst-slow-query", o->dst_slow_query, err) &&
           check_duration("grace", o->grace, err) &&
           check_duration("drain-delay", o->drain_delay, err) &&
           check_duration("client-stall-timeout", o->client_stall_timeout, err) &&
           check_duration("max-queue-duration", o->max_queue_duration, err) &&
           check_duration("node-forget-after", o->node_forget_after, err) &&
           check_duration("node-discovery-file-fetch-interval",
                          o->node_discovery_file_fetch_interval, err);
}

static bool check_ratios(const struct options *o, struct error *err)
{
    if (o->grpc_buffer_memory_ratio <= 0 || o->grpc_buffer_memory_ratio > 1) {
        return error_set(err, ERROR_INVALID_ARGUMENT,
                         "--grpc-buffer-memory-ratio=%g: expected a number above 0 and up to 1",
                         o->grpc_buffer_memory_ratio);
    }
    return true;
}

static bool check_readable(const char *flag, const char *path, struct error *err)
{
    return access(path, R_OK) == 0 ||
           error_set(err, ERROR_INVALID_ARGUMENT,
                     "--%s=%s: %s: expected a file that this user may read", flag, path,
                     strerror(errno));
}

/* TLS towards others: with a CA, and one that can be read. */
static bool check_trust(const char *flag, bool enabled, const char *ca_path, struct error *err)
{
    char ca_flag[OPTION_FLAG_SIZE];
    if (!enabled) {
        return true;
    }
    if (ca_path[0] == '\0') {
        return error_set(err, ERROR_INVALID_ARGUMENT,
                         "--%s-tls without a CA: expected --%s-ca-cert, too", flag, flag);
    }
    (void)snprintf(ca_flag, sizeof ca_flag, "%s-ca-cert", flag);
    return check_readable(ca_flag, ca_path, err);
}

/* What --tls serves with. */
static bool check_own_file(bool enabled, const char *flag, const char *path, struct error *err)
{
    if (!enabled) {
        return true;
    }
    if (path[0] == '\0') {
        return error_set(err, ERROR_INVALID_ARGUMENT,
                         "--tls without a certificate or its key: expected --%s, too", flag);
    }
    return check_readable(flag, path, err);
}

static bool check_tls(const struct options *o, struct error *err)
{
    return check_own_file(o->tls, "cert-file", o->cert_file, err) &&
           check_own_file(o->tls, "key-file", o->key_file, err) &&
           check_trust("data-client", o->data_client_tls, o->data_client_ca_cert, err) &&
           check_trust("schema-property-client", o->schema_property_client_tls,
                       o->schema_property_client_ca_cert, err);
}

static bool check_discovery_retry(const struct options *o, struct error *err)
{
    if (o->node_discovery_file_retry_multiplier < 1) {
        return error_set(err, ERROR_INVALID_ARGUMENT,
                         "--node-discovery-file-retry-multiplier=%g: expected a number from 1 on",
                         o->node_discovery_file_retry_multiplier);
    }
    if (o->node_discovery_file_retry_max_interval < o->node_discovery_file_retry_initial_interval) {
        return refuse_duration("node-discovery-file-retry-max-interval",
                               o->node_discovery_file_retry_max_interval,
                               "from --node-discovery-file-retry-initial-interval on", err);
    }
    return check_positive("node-discovery-file-retry-initial-interval",
                          o->node_discovery_file_retry_initial_interval, err);
}

static bool check_discovery_dns(const struct options *o, struct error *err)
{
    const size_t names = o->node_discovery_dns_srv_addresses.count;
    const size_t files = o->node_discovery_dns_ca_certs.count;
    if (names == 0) {
        return error_set(err, ERROR_INVALID_ARGUMENT,
                         "--node-discovery-mode=dns without names: expected SRV names in "
                         "--node-discovery-dns-srv-addresses, too");
    }
    if (o->node_discovery_dns_tls && files != names) {
        return error_set(err, ERROR_INVALID_ARGUMENT,
                         "--node-discovery-dns-tls with %zu files in "
                         "--node-discovery-dns-ca-certs and %zu names in "
                         "--node-discovery-dns-srv-addresses: expected a file of CAs for each name",
                         files, names);
    }
    return check_positive("node-discovery-dns-fetch-interval", o->node_discovery_dns_fetch_interval,
                          err) &&
           check_positive("node-discovery-dns-fetch-init-interval",
                          o->node_discovery_dns_fetch_init_interval, err) &&
           check_discovery_retry(o, err);
}

static bool check_discovery(const struct options *o, struct error *err)
{
    if (o->node_discovery_mode == DISCOVERY_DNS) {
        return check_discovery_dns(o, err);
    }
    if (o->node_discovery_mode != DISCOVERY_FILE) {
        return true;
    }
    if (o->node_discovery_file_path[0] == '\0') {
        return error_set(err, ERROR_INVALID_ARGUMENT,
                         "--node-discovery-mode=file without a file: expected "
                         "--node-discovery-file-path, too");
    }
    return check_readable("node-discovery-file-path", o->node_discovery_file_path, err) &&
           check_discovery_retry(o, err);
}

static bool check_logging(const struct options *o, struct error *err)
{
    if (o->logging_modules.count != o->logging_levels.count) {
        return error_set(err, ERROR_INVALID_ARGUMENT,
                         "--logging-modules names %zu modules and --logging-levels %zu levels: "
                         "expected one level for each module",
                         o->logging_modules.count, o->logging_levels.count);
    }
    for (size_t i = 0; i < o->logging_levels.count; i++) {
        enum log_level level;
        if (!log_level_read(o->logging_levels.items[i], &level)) {
            return error_set(err, ERROR_INVALID_ARGUMENT,
                             "--logging-levels=%s: expected trace, debug, info, warn, error, "
                             "fatal, panic or disabled",
                             o->logging_levels.items[i]);
        }
    }
    return true;
}

static bool derive_frame_versions(struct options *o, struct error *err)
{
    for (size_t i = 0; i < o->measure_frame_versions.count; i++) {
        const char *version = o->measure_frame_versions.items[i];
        if (strcmp(version, "3") != 0 && strcmp(version, "4") != 0) {
            return error_set(err, ERROR_INVALID_ARGUMENT,
                             "--measure-frame-versions=%s: expected 4, 3 or 3,4", version);
        }
        o->frame_versions |= version[0] == '3' ? DECODE_V3 : DECODE_V4;
    }
    return o->frame_versions != 0 || error_set(err, ERROR_INVALID_ARGUMENT,
                                               "--measure-frame-versions=: expected 4, 3 or 3,4");
}

/* The first IPv4 address that is not the loopback's. */
static bool own_address(char *host, size_t size)
{
    struct ifaddrs *list = NULL;
    bool found = false;
    if (getifaddrs(&list) != 0) {
        return false;
    }
    for (const struct ifaddrs *at = list; at != NULL && !found; at = at->ifa_next) {
        if (at->ifa_addr == NULL || at->ifa_addr->sa_family != AF_INET ||
            (at->ifa_flags & IFF_LOOPBACK) != 0) {
            continue;
        }
        const void *address = at->ifa_addr;
        const struct sockaddr_in *in = address;
        found = inet_ntop(AF_INET, &in->sin_addr, host, (socklen_t)size) != NULL;
    }
    freeifaddrs(list);
    return found;
}

static bool own_host(const struct options *o, char *host, size_t size, struct error *err)
{
    switch ((enum host_provider)o->node_host_provider) {
    case HOST_PROVIDER_HOSTNAME:
        if (gethostname(host, size) != 0) {
            return error_set(err, ERROR_INTERNAL, "the host name cannot be read: %s",
                             strerror(errno));
        }
        host[size - 1] = '\0';
        return true;
    case HOST_PROVIDER_IP:
        return own_address(host, size) ||
               error_set(err, ERROR_INVALID_ARGUMENT,
                         "--node-host-provider=ip: no IPv4 address but the loopback's was found; "
                         "expected one, or another provider: hostname, flag");
    case HOST_PROVIDER_FLAG:
        (void)snprintf(host, size, "%s", o->node_host);
        return host[0] != '\0' ||
               error_set(err, ERROR_INVALID_ARGUMENT,
                         "--node-host-provider=flag without a name: expected --node-host, too");
    }
    return false;
}

static bool derive_name(struct options *o, struct error *err)
{
    char host[256];
    if (!own_host(o, host, sizeof host, err)) {
        return false;
    }
    if (asprintf(&o->node_name, "%s:%u", host, (unsigned)o->liaison_server_grpc_port) < 0) {
        abort();
    }
    return true;
}

static bool derive_tier(struct options *o, struct error *err)
{
    const char *tier = "";
    for (size_t i = 0; i < o->node_labels.count; i++) {
        const char *label = o->node_labels.items[i];
        const char *equals = strchr(label, '=');
        if (equals == NULL || equals == label) {
            return error_set(err, ERROR_INVALID_ARGUMENT, "--node-labels=%s: expected key=value,…",
                             label);
        }
        if (strncmp(label, "type=", strlen("type=")) == 0) {
            tier = equals + 1;
        }
    }
    o->node_tier = own_text(tier);
    return true;
}

static void warn_of_modes(struct options *o)
{
    static const char text[] = "--observability-modes: prometheus is the only one here";
    for (size_t i = 0; i < o->observability_modes.count; i++) {
        if (strcmp(o->observability_modes.items[i], "prometheus") != 0) {
            option_value_list_add(&o->warnings, text, strlen(text));
            return;
        }
    }
}

static void warn_of_unused(struct options *o, bool enabled, const char *path, const char *text)
{
    if (!enabled && path[0] != '\0') {
        option_value_list_add(&o->warnings, text, strlen(text));
    }
}

/* Somebody who names a certificate believes that it is used. */
static void warn_of_files(struct options *o)
{
    warn_of_unused(o, o->tls, o->cert_file,
                   "--cert-file does nothing without --tls: clients are served in clear text");
    warn_of_unused(o, o->data_client_tls, o->data_client_ca_cert,
                   "--data-client-ca-cert does nothing without --data-client-tls: data nodes are "
                   "asked in clear text");
    warn_of_unused(o, o->schema_property_client_tls, o->schema_property_client_ca_cert,
                   "--schema-property-client-ca-cert does nothing without "
                   "--schema-property-client-tls: schema servers are asked in clear text");
}

bool options_check(struct options *options, struct error *err)
{
    if (!options->measure_vectorized_enabled) {
        return error_set(err, ERROR_INVALID_ARGUMENT,
                         "--measure-vectorized-enabled=false: expected true, there is no other "
                         "wire mode here; run the data nodes with it, too");
    }
    warn_of_modes(options);
    warn_of_files(options);
    return check_numbers(options, err) && check_durations(options, err) &&
           check_ratios(options, err) && check_tls(options, err) && check_discovery(options, err) &&
           check_logging(options, err) && derive_frame_versions(options, err) &&
           derive_name(options, err) && derive_tier(options, err);
}
