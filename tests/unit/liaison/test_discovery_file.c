// SPDX-License-Identifier: Apache-2.0
/* The discovery file: what is read, and what is said of files that are none. */
#include "liaison/cluster/discovery_file.h"
#include "tests/unit/frame/unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct discovery_file file;
static struct error err;

static bool parse(const char *text)
{
    err = (struct error){0};
    return discovery_file_parse(&file, slice_str(text), &err);
}

START_TEST(the_documented_example)
{
    ck_assert(parse("# two data nodes\n"
                    "nodes:\n"
                    "  - name: d1\n"
                    "    grpc_address: \"10.1.0.11:17912\"\n"
                    "  - name: d2\n"
                    "    grpc_address: \"d2.db.internal:17912\"\n"
                    "    tls_enabled: true\n"
                    "    ca_cert_path: /opt/bydb/pki/ca.pem\n"
                    "    weight: [1, {a: b}]\n"
                    "other: true\n"));
    ck_assert_uint_eq(file.count, 2);
    ck_assert_str_eq(file.entries[0].name, "d1");
    ck_assert_str_eq(file.entries[0].address, "10.1.0.11:17912");
    ck_assert(!file.entries[0].tls);
    ck_assert_str_eq(file.entries[0].ca_path, "");
    ck_assert_str_eq(file.entries[1].address, "d2.db.internal:17912");
    ck_assert(file.entries[1].tls);
    ck_assert_str_eq(file.entries[1].ca_path, "/opt/bydb/pki/ca.pem");
    discovery_file_fini(&file);
}
END_TEST

START_TEST(nothing_listed)
{
    static const char *const empty[] = {"nodes:\n", "nodes: []\n", "nodes: null\n", "nodes: ~\n",
                                        "{}\n"};
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        ck_assert_msg(parse(empty[i]), "\"%s\": %s", empty[i], err.text);
        ck_assert_uint_eq(file.count, 0);
        discovery_file_fini(&file);
    }
}
END_TEST

/* Nobody says by that that there are no nodes any more. */
START_TEST(empty_files)
{
    static const char *const empty[] = {"", "\n", "# only a comment\n", "~\n", "---\n"};
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        ck_assert_msg(!parse(empty[i]), "\"%s\"", empty[i]);
        ck_assert_str_eq(err.text, "the file is empty, expected the key nodes, with a list of "
                                   "entries with name, grpc_address, tls_enabled and ca_cert_path; "
                                   "nodes: [] lists none");
    }
}
END_TEST

START_TEST(an_address_counts_once)
{
    ck_assert(parse("nodes: [{grpc_address: a:1, name: first}, {grpc_address: b:1}, "
                    "{grpc_address: a:1, name: again}]"));
    ck_assert_uint_eq(file.count, 2);
    ck_assert_str_eq(file.entries[0].name, "first");
    ck_assert_str_eq(file.entries[1].name, "");
    discovery_file_fini(&file);
}
END_TEST

START_TEST(aliases_are_followed)
{
    ck_assert(parse("common: &d {grpc_address: a:1, name: d1}\nnodes: [*d]\n"));
    ck_assert_uint_eq(file.count, 1);
    ck_assert_str_eq(file.entries[0].name, "d1");
    discovery_file_fini(&file);
}
END_TEST

START_TEST(what_is_refused)
{
    static const struct {
        const char *text;
        const char *why;
    } bad[] = {
        {"nodes: [{grpc_address: x:1}, {name: d2}]",
         "node d2 at index 1 is missing required field: grpc_address"},
        {"nodes:\n- name: d1\n  grpc_address: \"\"\n",
         "node d1 at index 0 is missing required field: grpc_address"},
        {"nodes: [{name: d1, grpc_address: x:1, tls_enabled: true}]",
         "node d1 at index 0 has TLS enabled but missing ca_cert_path"},
        {"other: 1\nmore: 2\n",
         "failed to parse YAML: line 1: key other found, expected nodes, with a list of entries "
         "with name, grpc_address, tls_enabled and ca_cert_path"},
        {"# slip\nnode:\n- grpc_address: a:1\n",
         "failed to parse YAML: line 2: key node found, expected nodes, with a list of entries "
         "with name, grpc_address, tls_enabled and ca_cert_path"},
        {"[a]: b\n", "failed to parse YAML: line 1: key ? found, expected nodes, with a list of "
                     "entries with name, grpc_address, tls_enabled and ca_cert_path"},
        {"nodes:\n- name: d1\n  address: a:1\n",
         "node d1 at index 0 is missing required field: grpc_address; line 3: key address found, "
         "expected name, grpc_address, tls_enabled and ca_cert_path only"},
        {"nodes: 3", "failed to parse YAML: line 1: nodes is not a list"},
        {"nodes:\n- d1\n", "failed to parse YAML: line 2: an entry of nodes is not a mapping"},
        {"- a\n", "failed to parse YAML: line 1: the file is not a mapping with the key nodes"},
        {"nodes:\n- grpc_address: [a]\n",
         "failed to parse YAML: line 2: grpc_address is not a string"},
        {"nodes:\n- grpc_address: a:1\n  tls_enabled: maybe\n",
         "failed to parse YAML: line 3: tls_enabled is not true or false"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(!parse(bad[i].text), "%s", bad[i].text);
        ck_assert_str_eq(err.text, bad[i].why);
        ck_assert_uint_eq(file.count, 0);
        ck_assert_ptr_null(file.entries);
    }
}
END_TEST

/* A slip such as tls_enable would be clear text without a word. */
START_TEST(unknown_keys_are_told)
{
    ck_assert(parse("nodes:\n- grpc_address: a:1\n  tls_enable: true\n- grpc_address: b:1\n"
                    "  tls: x\n"));
    ck_assert_uint_eq(file.count, 2);
    ck_assert_str_eq(file.unknown.text, "line 3: key tls_enable found, expected name, "
                                        "grpc_address, tls_enabled and ca_cert_path only");
    discovery_file_fini(&file);
    ck_assert(parse("anchors: &a a:1\nnodes: [{grpc_address: *a, name: d1, tls_enabled: false, "
                    "ca_cert_path: x}]\n"));
    ck_assert_int_eq(file.unknown.code, ERROR_NONE);
    discovery_file_fini(&file);
}
END_TEST

START_TEST(broken_yaml)
{
    ck_assert(!parse("nodes:\n  - a: [1\nb"));
    ck_assert_int_eq(strncmp(err.text, "failed to parse YAML: line ", 27), 0);
    ck_assert(!parse("nodes: \"\xff\xfe\""));
    ck_assert_int_eq(strncmp(err.text, "failed to parse YAML: ", 22), 0);
}
END_TEST

START_TEST(files)
{
    char path[] = "/tmp/bydb-test-XXXXXX";
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    const char text[] = "nodes: [{grpc_address: a:1}]\n";
    ck_assert_int_eq(write(fd, text, sizeof text - 1), sizeof text - 1);
    close(fd);
    ck_assert(discovery_file_read(&file, path, &err));
    ck_assert_uint_eq(file.count, 1);
    discovery_file_fini(&file);
    unlink(path);
    ck_assert(!discovery_file_read(&file, path, &err));
    ck_assert_int_eq(strncmp(err.text, "failed to read file: ", 21), 0);
    ck_assert(!discovery_file_read(&file, "/tmp", &err));
    ck_assert_int_eq(strncmp(err.text, "failed to read file: ", 21), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("discovery_file");
    TCase *tcase = tcase_create("discovery_file");
    tcase_add_test(tcase, the_documented_example);
    tcase_add_test(tcase, nothing_listed);
    tcase_add_test(tcase, empty_files);
    tcase_add_test(tcase, an_address_counts_once);
    tcase_add_test(tcase, aliases_are_followed);
    tcase_add_test(tcase, what_is_refused);
    tcase_add_test(tcase, unknown_keys_are_told);
    tcase_add_test(tcase, broken_yaml);
    tcase_add_test(tcase, files);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
