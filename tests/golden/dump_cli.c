// SPDX-License-Identifier: Apache-2.0
/* The subcommand `frame` alone, so that its output can be tried without the whole program. */
#include "liaison/dump.h"

int main(int argc, char **argv)
{
    return dump_main(argc, argv);
}
