// SPDX-License-Identifier: Apache-2.0
/* The main of a unit test: one suite, run as the environment says. */
#pragma once

#include <check.h>

#include <stdlib.h>

static inline int unit_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
