// SPDX-License-Identifier: Apache-2.0
/* Resident minus given out; pages of files, which are the program's own, do not count. */
#include "liaison/slack.h"

#include "liaison/own.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LOOK_MS     1000
#define LOOKS       2                 /* in which there was too much, one after the other */
#define SLACK_BYTES ((size_t)4 << 20) /* and a quarter of what is held */
/* Just below the blocks of responses: what they do not reuse (query/block_pool.h) must leave no
 * holes, as one thread takes them and another gives them up. */
#define MAP_BYTES (192 << 10)
#define TOP_BYTES (8 << 20)

struct slack {
    struct loop_timer timer;
    unsigned looks;
};

void slack_tune(void)
{
    mallopt(M_MMAP_THRESHOLD, MAP_BYTES);
    mallopt(M_TRIM_THRESHOLD, TOP_BYTES);
}

/* The pages in memory that no file lies behind; 0: cannot be read. */
static size_t resident(void)
{
    char line[128] = "";
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL) {
        return 0;
    }
    const bool read = fgets(line, sizeof line, file) != NULL;
    (void)fclose(file);
    char *at = line;
    (void)strtoull(at, &at, 10); /* all that is mapped */
    const unsigned long long pages = strtoull(at, &at, 10);
    const unsigned long long shared = strtoull(at, &at, 10);
    return read && pages > shared ? (size_t)(pages - shared) * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

static bool is_too_much(void)
{
    const struct mallinfo2 info = mallinfo2();
    const size_t held = info.uordblks + info.hblkhd;
    return resident() > held + held / 4 + SLACK_BYTES;
}

static void on_look(struct loop_timer *timer)
{
    struct slack *slack = (struct slack *)((char *)timer - offsetof(struct slack, timer));
    slack->looks = is_too_much() ? slack->looks + 1 : 0;
    if (slack->looks == LOOKS) {
        slack->looks = 0;
        malloc_trim(0);
    }
    loop_timer_start(timer, LOOK_MS);
}

struct slack *slack_open(struct loop *loop)
{
    struct slack *slack = own_array(1, sizeof *slack);
    loop_timer_init(&slack->timer, loop, on_look);
    loop_timer_start(&slack->timer, LOOK_MS);
    return slack;
}

void slack_close(struct slack **slack)
{
    struct slack *closed = *slack;
    *slack = NULL;
    if (closed != NULL) {
        loop_timer_fini(&closed->timer);
        free(closed);
    }
}
