// SPDX-License-Identifier: Apache-2.0
#include "proto/rfc3339.h"
#include "tests/unit/frame/unit.h"

#include <time.h>

START_TEST(texts)
{
    static const struct {
        const char *text;
        int64_t seconds;
        int32_t nanos;
    } table[] = {
        {"1970-01-01T00:00:00Z", 0, 0},
        {"2026-11-30T10:50:00Z", 1796035800, 0},
        {"2026-11-30T10:50:00.5Z", 1796035800, 500000000},
        {"2026-11-30T11:06:42.734884017Z", 1796036802, 734884017},
        {"2026-11-30T12:50:00+02:00", 1796035800, 0},
        {"2026-11-30T05:20:00.000000001-05:30", 1796035800, 1},
        {"1969-12-31T23:59:59.999999999Z", -1, 999999999},
        {"0001-01-01T00:00:00Z", -62135596800, 0},
        {"9999-12-31T23:59:59.999999999Z", 253402300799, 999999999},
        {"2024-02-29T00:00:00Z", 1709164800, 0},
        {"2000-02-29T00:00:00Z", 951782400, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct moment moment;
        ck_assert_msg(rfc3339_parse(slice_str(table[i].text), &moment), "row %zu", i);
        ck_assert_int_eq(moment.seconds, table[i].seconds);
        ck_assert_int_eq(moment.nanos, table[i].nanos);
    }
}
END_TEST

START_TEST(refused)
{
    static const char *const table[] = {
        "",
        "2026-11-30",
        "2026-11-30T10:50:00",
        "2026-11-30 10:50:00Z",
        "2026-11-30t10:50:00Z",
        "2026-11-30T10:50:00z",
        "2026-11-30T10:50Z",
        "2026-11-31T10:50:00Z",
        "2025-02-29T10:50:00Z",
        "1900-02-29T10:50:00Z",
        "2026-13-01T10:50:00Z",
        "2026-00-01T10:50:00Z",
        "2026-01-00T10:50:00Z",
        "2026-11-30T24:00:00Z",
        "2026-11-30T10:60:00Z",
        "2026-11-30T10:50:60Z",
        "2026-11-30T10:50:00.Z",
        "2026-11-30T10:50:00.1234567890Z",
        "2026-11-30T10:50:00+2:00",
        "2026-11-30T10:50:00+24:00",
        "2026-11-30T10:50:00+0200",
        "2026-11-30T10:50:00Zx",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "-026-11-30T10:50:00Z",
        "99999-11-30T10:50:00Z",
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct moment moment;
        ck_assert_msg(!rfc3339_parse(slice_str(table[i]), &moment), "%s", table[i]);
    }
}
END_TEST

/* Every day of 400 years and some, against the C library. */
START_TEST(days)
{
    for (int64_t day = -135140; day < 1000000; day += 7) {
        time_t seconds = (time_t)(day * 86400 + 3723);
        struct tm parts;
        char text[64];
        struct moment moment;
        gmtime_r(&seconds, &parts);
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
        ck_assert_msg(rfc3339_parse(slice_str(text), &moment), "%s", text);
        ck_assert_int_eq(moment.seconds, seconds);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rfc3339");
    TCase *tcase = tcase_create("rfc3339");
    tcase_add_test(tcase, texts);
    tcase_add_test(tcase, refused);
    tcase_add_test(tcase, days);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
