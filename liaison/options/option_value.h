// SPDX-License-Identifier: Apache-2.0
/*
 * One value as an operator writes it: the syntax of Go's flag library, so that existing command
 * lines mean the same here. False = the text is not of this form; nothing was stored.
 */
#pragma once

#include "liaison/options/options.h"

bool option_value_bool(const char *text, bool *value_out);        /* true, t, 1, false, F, 0, … */
bool option_value_int(const char *text, int64_t *value_out);      /* decimal, 0x…, 0… */
bool option_value_port(const char *text, uint16_t *value_out);    /* 0 to 65535 */
bool option_value_ratio(const char *text, double *value_out);     /* a finite number */
bool option_value_duration(const char *text, int64_t *value_out); /* 1m30s, 500ms, 0: nanoseconds */
bool option_value_size(const char *text, uint64_t *value_out);    /* 16MiB, 10MB, 4096: bytes */

/* The index of `text` in "a|b|!c"; -1 = not there. *later_out: it is marked with !. */
int option_value_choice(const char *choices, const char *text, bool *later_out);

/* Appends a copy of the text to a list. */
void option_value_list_add(struct option_list *list, const char *text, size_t len);
void option_value_list_fini(struct option_list *list);
