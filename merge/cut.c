// SPDX-License-Identifier: Apache-2.0
/* Two counters that run down, so no sum of offset and limit can overflow. */
#include "merge/cut.h"

static bool begin(struct sink *sink, const struct layout *layout, struct error *err)
{
    struct sink *next = ((struct cut *)sink)->stage.next;
    return next->begin(next, layout, err);
}

static bool row(struct sink *sink, const struct row *row, struct error *err)
{
    struct cut *cut = (struct cut *)sink;
    if (cut_skip(cut) || cut_is_full(cut)) {
        return true;
    }
    cut->limit--;
    return cut->stage.next->row(cut->stage.next, row, err);
}

void cut_init(struct cut *cut, uint64_t offset, uint64_t limit, struct sink *next)
{
    *cut = (struct cut){.stage = {.sink = {.begin = begin, .row = row}, .next = next},
                        .offset = offset,
                        .limit = limit};
}
