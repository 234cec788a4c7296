// SPDX-License-Identifier: Apache-2.0
/*
 * Label selectors, the words by which a stage names its nodes: `type=hot,zone in (a,b),!drain`.
 *
 *   selector  = "" | expr { "," expr }          all must hold; commas inside ( ) do not split
 *   expr      = "!" key                         key absent
 *             | key "!=" value                  absent or different
 *             | key "=" value                   present and equal
 *             | key " notin " "(" v {"," v} ")" absent or not in list
 *             | key " in "    "(" v {"," v} ")" present and in list
 *             | key                             present
 *
 * Operators are searched in this order, so `a==b` asks for the value `=b`, as upstream reads it.
 */
#pragma once

#include "frame/error.h"
#include "frame/slice.h"
#include "liaison/cluster/member.h"

struct selector;

/* NULL and err (INVALID_ARGUMENT, `invalid selector "…": <why>`) when the text is none. */
struct selector *selector_parse(struct slice text, struct error *err) MUST_CHECK;
bool selector_match(const struct selector *selector, const struct member *member);
void selector_free(struct selector **selector);
