// SPDX-License-Identifier: Apache-2.0
/* A main for a fuzz entry where there is no libFuzzer: runs it over the files and folders named as
 * arguments. An entry that finds a fault ends the program. */
#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static size_t runs;

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        return 1;
    }
    long size = ftell(file);
    size_t len = size < 0 ? 0 : (size_t)size;
    uint8_t *bytes = malloc(len + 1); /* so that a file of 0 bytes is no NULL */
    rewind(file);
    bool complete = bytes != NULL && fread(bytes, 1, len, file) == len;
    fclose(file);
    if (complete) {
        (void)LLVMFuzzerTestOneInput(bytes, len);
        runs++;
    }
    free(bytes);
    return complete ? 0 : 1;
}

static int on_file(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)where;
    return kind == FTW_F ? run_file(path) : 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (nftw(argv[i], on_file, 16, FTW_PHYS) != 0) {
            fprintf(stderr, "replay: %s could not be run\n", argv[i]);
            return 1;
        }
    }
    printf("%zu inputs\n", runs);
    return runs > 0 ? 0 : 1;
}
