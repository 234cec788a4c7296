// SPDX-License-Identifier: Apache-2.0
/*
 * The addresses that are listed somewhere, and who answers there.
 *
 *     file ─read at start, every fetch interval, when it changes─▶ places ─whois─▶ nodes
 *     dns  ─SRV records, every fetch interval─────────────────────▶  ▲──back-off──┘ no answer
 *
 * Where addresses come from is one source (the file, or the names); everything from a place on is
 * the same for every source. An error in the source leaves the places as they are.
 */
#pragma once

#include "liaison/cluster/place.h"

struct discovery;

/* NULL and err: the mode cannot be used. A file that cannot be read is an error for the log only.
 * on_change: places came, went or answered; it may come while this runs. */
struct discovery *discovery_open(const struct place_setup *setup, struct error *err) MUST_CHECK;
void discovery_close(struct discovery **discovery);

/* The node of this name may have changed: its place asks again. All do with the periodic reading.
 */
void discovery_ask_again(struct discovery *discovery, const char *node_name);

/* In the order of the source. */
size_t discovery_count(const struct discovery *discovery);
const struct place *discovery_at(const struct discovery *discovery, size_t i);
/* What is wrong with the source itself; code NONE = nothing. */
const struct error *discovery_error(const struct discovery *discovery);
