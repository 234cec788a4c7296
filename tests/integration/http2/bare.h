// SPDX-License-Identifier: Apache-2.0
/* The bytes of calls without HTTP/2 around them: what any protocol pays for the way of the bytes.
 */
#pragma once

#include <stddef.h>

struct bare_load {
    size_t request;
    size_t answer;
    unsigned in_flight; /* requests that are written at once, before their answers are read */
    unsigned calls;
};

/* Two threads over loopback, blocking; CPU seconds of each. */
void bare_run(const struct bare_load *load, double *client_out, double *server_out);
