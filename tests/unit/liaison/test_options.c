// SPDX-License-Identifier: Apache-2.0
/* The command line and the environment: precedence, texts, and what is not built yet. */
#include "frame/decode.h"
#include "liaison/options/option_row.h"
#include "liaison/options/options.h"
#include "tests/unit/frame/unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_WORDS 16

static struct options options;
static struct error err;

/* Words separated by blanks; variables likewise, may be NULL. */
static bool read_words(const char *line, const char *variables)
{
    static char words[512];
    static char environment[512];
    char *argv[MAX_WORDS] = {(char[]){"bydb-liaison"}};
    char *envp[MAX_WORDS] = {NULL};
    int argc = 1;
    size_t count = 0;
    (void)snprintf(words, sizeof words, "%s", line);
    (void)snprintf(environment, sizeof environment, "%s", variables == NULL ? "" : variables);
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    for (char *word = strtok(environment, " "); word != NULL; word = strtok(NULL, " ")) {
        envp[count++] = word;
    }
    err = (struct error){0};
    return options_read(&options, argc, argv, envp, &err);
}

static void setup(void)
{
    options = (struct options){0};
}

static void teardown(void)
{
    options_fini(&options);
}

START_TEST(defaults)
{
    ck_assert_msg(read_words("", NULL), "%s", err.text);
    ck_assert_uint_eq(options.grpc_port, 17912);
    ck_assert_int_eq(options.dst_broadcast_timeout, INT64_C(15000000000));
    ck_assert_uint_eq(options.max_recv_msg_size, 16 << 20);
    ck_assert_str_eq(options.observability_listener_addr, ":2121");
    ck_assert_int_eq(options.aggregation, AGGREGATION_EXACT);
    ck_assert_int_eq(options.node_discovery_mode, DISCOVERY_NONE);
    ck_assert_uint_eq(options.frame_versions, DECODE_V4);
    ck_assert_uint_eq(options.warnings.count, 0);
    const char *port = strrchr(options.node_name, ':');
    ck_assert_str_eq(port, ":18912");
    ck_assert_str_eq(options.node_tier, "");
}
END_TEST

START_TEST(forms_of_a_flag)
{
    ck_assert_msg(read_words("liaison --grpc-port 1 --http-port=0 --reuse-port --tls=false -nx "
                             "--aggregation rows --mean-floor=none --drain-delay 2s",
                             NULL),
                  "%s", err.text);
    ck_assert_uint_eq(options.grpc_port, 1);
    ck_assert(options.reuse_port);
    ck_assert(!options.tls);
    ck_assert_str_eq(options.name, "x");
    ck_assert_int_eq(options.aggregation, AGGREGATION_ROWS);
    ck_assert_int_eq(options.mean_floor, MEAN_FLOOR_NONE);
    ck_assert_uint_eq(duration_ms(options.drain_delay), 2000);
}
END_TEST

START_TEST(the_command_line_wins)
{
    ck_assert(read_words("--grpc-port=1 --node-labels=type=warm",
                         "BYDB_GRPC_PORT=2 BYDB_GRACE=3s BYDB_TLS=false BYDB_UNKNOWN=x PATH=/ "
                         "BYDB_NODE_LABELS=type=hot BYDB_GRPC_HOST="));
    ck_assert_uint_eq(options.grpc_port, 1);
    ck_assert_uint_eq(duration_ms(options.grace), 3000);
    ck_assert_str_eq(options.node_tier, "warm");
    teardown();
    ck_assert(read_words("", "BYDB_GRPC_PORT=2"));
    ck_assert_uint_eq(options.grpc_port, 2);
}
END_TEST

START_TEST(a_bad_variable_does_not_matter_when_the_flag_is_given)
{
    ck_assert(read_words("--grpc-port=1", "BYDB_GRPC_PORT=x"));
    teardown();
    ck_assert(!read_words("", "BYDB_GRPC_PORT=x"));
    ck_assert_str_eq(err.text, "BYDB_GRPC_PORT=x: expected a port from 0 to 65535");
}
END_TEST

START_TEST(lists_replace_the_default_and_add_up)
{
    ck_assert(read_words(
        "--measure-frame-versions=3,4 --node-labels=a=b --node-labels=type=hot,c=d", NULL));
    ck_assert_uint_eq(options.frame_versions, DECODE_V3 | DECODE_V4);
    ck_assert_uint_eq(options.measure_frame_versions.count, 2);
    ck_assert_uint_eq(options.node_labels.count, 3);
    ck_assert_str_eq(options.node_tier, "hot");
}
END_TEST

START_TEST(texts_of_refusals)
{
    static const struct {
        const char *line;
        const char *text;
    } bad[] = {
        {"--grpc-prot=1", "unknown flag: --grpc-prot (did you mean --grpc-port?)"},
        {"--zzzzzzzz", "unknown flag: --zzzzzzzz"},
        {"-x", "unknown flag: -x; the short ones are -h, -v and -n"},
        {"now", "unexpected argument: now; every setting is a flag, --name=value"},
        {"--grpc-port", "--grpc-port: its value is missing: expected a port from 0 to 65535"},
        {"--grpc-port=70000", "--grpc-port=70000: expected a port from 0 to 65535"},
        {"--dst-broadcast-timeout=15",
         "--dst-broadcast-timeout=15: expected a duration such as 1m30s or 500ms"},
        {"--max-recv-msg-size=big",
         "--max-recv-msg-size=big: expected a size such as 16MiB, 10MB or 4096"},
        {"--reuse-port=maybe", "--reuse-port=maybe: expected true or false"},
        {"--executors=-1", "--executors=-1: expected a number from 0 to 1024"},
        {"--grace=-1s", "--grace=-1s: expected a duration that is not negative"},
        {"--node-discovery-mode=etcd", "--node-discovery-mode=etcd: expected dns, file or none"},
        {"--node-discovery-mode=dns",
         "--node-discovery-mode=dns without names: expected SRV names in "
         "--node-discovery-dns-srv-addresses, too"},
        {"--node-discovery-mode=dns --node-discovery-dns-srv-addresses=a,b "
         "--node-discovery-dns-tls=true --node-discovery-dns-ca-certs=x",
         "--node-discovery-dns-tls with 1 files in --node-discovery-dns-ca-certs and 2 names in "
         "--node-discovery-dns-srv-addresses: expected a file of CAs for each name"},
        {"--node-discovery-mode=dns --node-discovery-dns-srv-addresses=a "
         "--node-discovery-dns-fetch-init-interval=0s",
         "--node-discovery-dns-fetch-init-interval=0s: expected a duration above 0"},
        {"--node-discovery-mode=file",
         "--node-discovery-mode=file without a file: expected --node-discovery-file-path, too"},
        {"--node-discovery-mode=file --node-discovery-file-path=/nowhere/x",
         "--node-discovery-file-path=/nowhere/x: No such file or directory: expected a file that "
         "this user may read"},
        {"--node-discovery-mode=file --node-discovery-file-path=/etc/passwd "
         "--node-discovery-file-retry-multiplier=0.5",
         "--node-discovery-file-retry-multiplier=0.5: expected a number from 1 on"},
        {"--node-discovery-mode=file --node-discovery-file-path=/etc/passwd "
         "--node-discovery-file-retry-initial-interval=0s",
         "--node-discovery-file-retry-initial-interval=0s: expected a duration above 0"},
        {"--node-discovery-mode=file --node-discovery-file-path=/etc/passwd "
         "--node-discovery-file-retry-max-interval=100ms",
         "--node-discovery-file-retry-max-interval=0.1s: expected a duration from "
         "--node-discovery-file-retry-initial-interval on"},
        {"--grpc-buffer-memory-ratio=1.5",
         "--grpc-buffer-memory-ratio=1.5: expected a number above 0 and up to 1"},
        {"--data-client-tls",
         "--data-client-tls without a CA: expected --data-client-ca-cert, too"},
        {"--schema-property-client-tls --schema-property-client-ca-cert=/nowhere/ca.pem",
         "--schema-property-client-ca-cert=/nowhere/ca.pem: No such file or directory: expected a "
         "file that this user may read"},
        {"--tls", "--tls without a certificate or its key: expected --cert-file, too"},
        {"--tls --cert-file=/etc/passwd",
         "--tls without a certificate or its key: expected --key-file, too"},
        {"--measure-frame-versions=5", "--measure-frame-versions=5: expected 4, 3 or 3,4"},
        {"--measure-frame-versions=", "--measure-frame-versions=: expected 4, 3 or 3,4"},
        {"--measure-vectorized-enabled=false",
         "--measure-vectorized-enabled=false: expected true, there is no other wire mode here; "
         "run the data nodes with it, too"},
        {"--logging-modules=A,B --logging-levels=info",
         "--logging-modules names 2 modules and --logging-levels 1 levels: expected one level for "
         "each module"},
        {"--node-labels=hot", "--node-labels=hot: expected key=value,…"},
        {"--node-host-provider=flag",
         "--node-host-provider=flag without a name: expected --node-host, too"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(!read_words(bad[i].line, NULL), "%s", bad[i].line);
        ck_assert_str_eq(err.text, bad[i].text);
        options_fini(&options);
    }
}
END_TEST

/* What a value has to be is said of each, with the name under which it was given. */
START_TEST(refusals_say_what_is_expected)
{
    const struct option_row *row;
    for (size_t i = 0; (row = option_row_at(i)) != NULL; i++) {
        char name[OPTION_FLAG_SIZE];
        char line[128];
        char found[160];
        if (row->type == TYPE_SECTION || row->type == TYPE_STRING || row->type == TYPE_LIST) {
            continue; /* any text will do, so far */
        }
        (void)snprintf(line, sizeof line, "--%s=§", option_row_flag(row, name));
        ck_assert_msg(!read_words(line, NULL), "%s", line);
        (void)snprintf(found, sizeof found, "%s: expected ", line);
        ck_assert_msg(strncmp(err.text, found, strlen(found)) == 0, "%s", err.text);
        options_fini(&options);
        (void)snprintf(line, sizeof line, "%s=§", option_row_variable(row, name));
        ck_assert_msg(!read_words("", line), "%s", line);
        (void)snprintf(found, sizeof found, "%s: expected ", line);
        ck_assert_msg(strncmp(err.text, found, strlen(found)) == 0, "%s", err.text);
        options_fini(&options);
    }
}
END_TEST

START_TEST(command_lines_of_the_go_liaison_start)
{
    ck_assert_msg(read_words("liaison --stream-root-path=/x --trace-flush-timeout 5s "
                             "--bydbql-anything --liaison-client-tls --measure-root-path /tmp/x "
                             "--enable-ingestion-access-log --panic-diagnostics-dir=y",
                             NULL),
                  "%s", err.text);
    ck_assert_uint_eq(options.warnings.count, 0);
}
END_TEST

/* Whatever is not built must say so when it is set, and only then. */
START_TEST(what_is_not_built_says_so)
{
    const struct option_row *row;
    for (size_t i = 0; (row = option_row_at(i)) != NULL; i++) {
        char flag[OPTION_FLAG_SIZE];
        char line[128];
        const bool later = row->status == STATUS_WARNS || row->status == STATUS_REFUSES;
        if (!later || row->type != TYPE_BOOL || strstr(row->field, "_tls") != NULL) {
            continue; /* TLS towards others asks for its CA first */
        }
        (void)snprintf(line, sizeof line, "--%s", option_row_flag(row, flag));
        if (row->status == STATUS_REFUSES) {
            ck_assert_msg(!read_words(line, NULL), "%s", line);
            ck_assert_ptr_nonnull(strstr(err.text, "is not available yet"));
        } else {
            ck_assert_msg(read_words(line, NULL), "%s: %s", line, err.text);
            ck_assert_uint_eq(options.warnings.count, 1);
            ck_assert_ptr_nonnull(strstr(options.warnings.items[0], flag));
        }
        options_fini(&options);
    }
}
END_TEST

START_TEST(variables_that_belong_to_no_flag_are_told)
{
    static const struct {
        const char *variable;
        const char *warning; /* NULL: none */
    } rows[] = {
        {"BYDB_GRPC_PROT=1",
         "BYDB_GRPC_PROT belongs to no flag and does nothing; did you mean BYDB_GRPC_PORT"},
        {"BYDB_MEASURE_FRAME_VERSION=3,4", "BYDB_MEASURE_FRAME_VERSION belongs to no flag and does "
                                           "nothing; did you mean BYDB_MEASURE_FRAME_VERSIONS"},
        {"BYDB_ZZZZZZZZ=1", "BYDB_ZZZZZZZZ belongs to no flag and does nothing; --help lists all "
                            "flags"},
        {"BYDB_GRPC_PROT=", NULL},
        {"GRPC_PROT=1", NULL},
        {"bydb_grpc_prot=1", NULL}, /* not one of ours */
        {"BYDB_GRPC_PORT=1", NULL},
        {"BYDB_LIAISON_SERVER_HTTP_PORT=1", NULL}, /* the Go liaison's */
        {"BYDB_STREAM_ROOT_PATH=/x", NULL},        /* likewise, by its prefix */
        {"BYDB_POISON_RELEASED=1", NULL},
        {"BYDB_LIAISON_SERVICE_HOST=10.0.0.1", NULL},
        {"BYDB_LIAISON_SERVICE_PORT_GRPC=17912", NULL},
        {"BYDB_LIAISON_PORT=tcp://10.0.0.1:17912", NULL},
        {"BYDB_LIAISON_PORT_17912_TCP_ADDR=10.0.0.1", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(read_words("", rows[i].variable), "%s", err.text);
        ck_assert_msg(options.warnings.count == (rows[i].warning != NULL), "%s", rows[i].variable);
        if (rows[i].warning != NULL) {
            ck_assert_str_eq(options.warnings.items[0], rows[i].warning);
        }
        options_fini(&options);
    }
}
END_TEST

START_TEST(files_that_nothing_uses_are_told)
{
    static const char *const lines[] = {"--cert-file=/c", "--data-client-ca-cert=/c",
                                        "--schema-property-client-ca-cert=/c"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        ck_assert_msg(read_words(lines[i], NULL), "%s", err.text);
        ck_assert_uint_eq(options.warnings.count, 1);
        ck_assert_ptr_nonnull(strstr(options.warnings.items[0], "in clear text"));
        options_fini(&options);
    }
    ck_assert(!read_words("--tls --cert-file=/no/such --key-file=/no/such", NULL));
    ck_assert_str_eq(err.text,
                     "--cert-file=/no/such: No such file or directory: expected a file that this "
                     "user may read");
}
END_TEST

START_TEST(own_name)
{
    ck_assert(
        read_words("--node-host-provider=flag --node-host=me --liaison-server-grpc-port=7", NULL));
    ck_assert_str_eq(options.node_name, "me:7");
}
END_TEST

START_TEST(help_is_made_of_the_table)
{
    ck_assert(read_words("--help", "BYDB_GRPC_PORT=x"));
    ck_assert(options.help_wanted);
    teardown();
    ck_assert(read_words("-v", NULL));
    ck_assert(options.version_wanted);
    char *help = options_help();
    const struct option_row *row;
    for (size_t i = 0; (row = option_row_at(i)) != NULL; i++) {
        char flag[OPTION_FLAG_SIZE];
        if (row->type != TYPE_SECTION) {
            ck_assert_msg(strstr(help, option_row_flag(row, flag)) != NULL, "%s", flag);
            ck_assert_msg(row->status != STATUS_WORKS || row->help[0] != '\0', "%s", flag);
        }
    }
    ck_assert_ptr_null(strchr(help, '!'));
    free(help);
}
END_TEST

START_TEST(configuration_files_are_seen)
{
    char folder[] = "/tmp/bydb-options-XXXXXX";
    char path[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_ptr_null(options_unread_file(folder));
    (void)snprintf(path, sizeof path, "%s/liaison.yaml", folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    (void)fclose(file);
    char *found = options_unread_file(folder);
    ck_assert_str_eq(found, "liaison.yaml");
    free(found);
    unlink(path);
    rmdir(folder);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("options");
    TCase *tcase = tcase_create("options");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, defaults);
    tcase_add_test(tcase, forms_of_a_flag);
    tcase_add_test(tcase, the_command_line_wins);
    tcase_add_test(tcase, a_bad_variable_does_not_matter_when_the_flag_is_given);
    tcase_add_test(tcase, lists_replace_the_default_and_add_up);
    tcase_add_test(tcase, texts_of_refusals);
    tcase_add_test(tcase, refusals_say_what_is_expected);
    tcase_add_test(tcase, command_lines_of_the_go_liaison_start);
    tcase_add_test(tcase, what_is_not_built_says_so);
    tcase_add_test(tcase, variables_that_belong_to_no_flag_are_told);
    tcase_add_test(tcase, files_that_nothing_uses_are_told);
    tcase_add_test(tcase, own_name);
    tcase_add_test(tcase, help_is_made_of_the_table);
    tcase_add_test(tcase, configuration_files_are_seen);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
