// SPDX-License-Identifier: Apache-2.0
/* nghttp2's session of a client's connection: its limits, its greeting, and where callbacks go. */
#pragma once

#include <nghttp2/nghttp2.h>

#include <stdint.h>

struct h2;

/* For the h2 of a struct connection. Never NULL. */
nghttp2_session *server_session_new(struct h2 *h2, uint32_t max_concurrent_streams);
