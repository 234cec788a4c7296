// SPDX-License-Identifier: Apache-2.0
/* Opens a listening TCP socket. */
#pragma once

#include "frame/error.h"

#include <stdint.h>

/* Non-blocking; -1: err (not NULL) tells. host "" = all addresses, v6 and v4; a host name may
 * block. number 0 = the kernel chooses. */
int port_open(const char *host, uint16_t number, bool reuse_port, struct error *err) MUST_CHECK;
/* The number of the port that the socket has. */
uint16_t port_number(int fd);
