// SPDX-License-Identifier: Apache-2.0
/* Addresses as they are written. What dialling does is seen in the integration tests of links. */
#include "liaison/http2/dial.h"
#include "tests/unit/frame/unit.h"

#include <string.h>

static const struct {
    const char *address;
    const char *host; /* NULL: refused */
    const char *port;
} addresses[] = {
    {"127.0.0.1:17912", "127.0.0.1", "17912"},
    {"[::1]:80", "::1", "80"},
    {"data-0.data.svc:1", "data-0.data.svc", "1"},
    {"data-0.data.svc.:1", "data-0.data.svc", "1"},
    {"fe80::1:99", "fe80::1", "99"},
    {"", NULL, NULL},
    {":1", NULL, NULL},
    {"host", NULL, NULL},
    {"host:", NULL, NULL},
    {"host:http", NULL, NULL},
    {"host:123456", NULL, NULL},
    {"host:-1", NULL, NULL},
};

START_TEST(addresses_are_taken_apart)
{
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        struct dial_target target;
        struct error err;
        const bool good = dial_parse(addresses[i].address, &target, &err);
        ck_assert_msg(good == (addresses[i].host != NULL), "%s", addresses[i].address);
        if (good) {
            ck_assert_str_eq(target.host, addresses[i].host);
            ck_assert_str_eq(target.port, addresses[i].port);
        } else {
            ck_assert_int_eq(err.code, ERROR_INVALID_ARGUMENT);
        }
    }
}
END_TEST

START_TEST(long_names_are_refused)
{
    char address[DIAL_HOST_BYTES + 10];
    struct dial_target target;
    memset(address, 'h', sizeof address);
    memcpy(address + DIAL_HOST_BYTES - 1, ":1", 3);
    ck_assert(dial_parse(address, &target, NULL));
    memset(address, 'h', sizeof address);
    memcpy(address + DIAL_HOST_BYTES, ":1", 3);
    ck_assert(!dial_parse(address, &target, NULL));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dial");
    TCase *cases = tcase_create("dial");
    tcase_add_test(cases, addresses_are_taken_apart);
    tcase_add_test(cases, long_names_are_refused);
    suite_add_tcase(suite, cases);
    return unit_run(suite);
}
