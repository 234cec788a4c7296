// SPDX-License-Identifier: Apache-2.0
/* Reads the command line: a liaison is served (serve.h), or a frame shown (dump.h). */
#include "frame/msg.h"
#include "liaison/dump.h"
#include "liaison/heap_trim.h"
#include "liaison/http2/tls_memory.h"
#include "liaison/serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "frame") == 0) {
        return dump_main(argc - 1, argv + 1);
    }
    const char *poison = getenv("BYDB_POISON_RELEASED");
    msg_poison_released(poison != NULL && strcmp(poison, "1") == 0);
    heap_trim_tune();
    (void)tls_memory_count();
    struct options options = {0};
    struct error err;
    int code = EX_USAGE;
    if (!options_read(&options, argc, argv, environ, &err)) {
        (void)fprintf(stderr, "bydb-liaison: %s; bydb-liaison --help explains every flag\n",
                      err.text);
    } else if (options.help_wanted) {
        char *help = options_help();
        (void)fputs(help, stdout);
        free(help);
        code = EXIT_SUCCESS;
    } else if (options.version_wanted) {
        (void)puts("bydb-liaison " BYDB_VERSION);
        code = EXIT_SUCCESS;
    } else {
        code = serve(&options);
    }
    options_fini(&options);
    return code;
}
