// SPDX-License-Identifier: Apache-2.0
/* nghttp2's session of a link: its windows, and where callbacks go. */
#pragma once

#include <nghttp2/nghttp2.h>

#include <stdint.h>

struct call_host;

/* `window` bytes for each stream and for the connection. Never NULL. */
nghttp2_session *link_session_new(struct call_host *host, uint32_t window);
