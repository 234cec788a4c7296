// SPDX-License-Identifier: Apache-2.0
/*
 * Several sockets listen on one port (SO_REUSEPORT): while one of them leaves, the kernel is told
 * to give new connections to another, so that none is in its queue when it closes.
 *
 * The kernel numbers the sockets of a group but does not say which number is whose. So one is
 * chosen, a connection is made to the port, and whoever finds it in his queue knows.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* New connections go to the socket with this number; where there is none the kernel spreads them as
 * usual. False: the kernel does not do that. */
bool steering_choose(int listening_fd, unsigned number);
/* The kernel spreads new connections as usual. */
void steering_clear(int listening_fd);

/* Connects to the port. Returns the socket (taken), whose own port is *port_out, or -1. It may take
 * some milliseconds. */
int steering_probe(int listening_fd, uint16_t *port_out);
