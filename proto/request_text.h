// SPDX-License-Identifier: Apache-2.0
/* Refusals in the form that clients know from the query processor. */
#pragma once

#include "frame/error.h"

/* UNKNOWN "code: STATUS_INTERNAL_ERROR, msg: <text>: invalid query message"; a long text is cut,
 * the words around it stay. Returns false. */
bool request_text_fail(struct error *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Of errors while a request runs: the client gets code and text as they are. The others become
 * texts of the query processor. */
bool request_text_keeps(enum error_code code);
