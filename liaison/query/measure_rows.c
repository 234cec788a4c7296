// SPDX-License-Identifier: Apache-2.0
/* Only rows whose message is there count for those of other groups: a node that is lost while it
 * sends leaves none. */
#include "liaison/query/measure_rows.h"

#include "frame/decode.h"
#include "frame/rows.h"
#include "proto/request_layout.h"
#include "proto/response.h"

void measure_rows_init(struct measure_rows *rows, const struct work *work,
                       const struct request *request, size_t most_bytes)
{
    const struct layout *shown = request_layout_shown(request, work->arena);
    *rows = (struct measure_rows){
        .options = work->options,
        .least = response_least(shown, work->begin, work->arena),
        .most_bytes = most_bytes,
    };
    fewest_init(&rows->fewest, &request->plan, work->arena);
}

static bool check(const struct measure_rows *rows, const struct fanout_source *source, size_t count,
                  struct error *err)
{
    const uint64_t fewest = fewest_with(&rows->fewest, source->question, count);
    return fewest <= rows->most_bytes / rows->least ||
           error_set(
               err, ERROR_RESOURCE_EXHAUSTED,
               "node %s answers with %zu rows: the whole answer would have %llu at least, of %zu "
               "bytes or more each; at most %zu bytes are held for it "
               "(--measure-vectorized-query-memory-mib=%lld); ask for a narrower time range, fewer "
               "tags, or a lower limit",
               source->name, count, (unsigned long long)fewest, rows->least, rows->most_bytes,
               (long long)rows->options->measure_vectorized_query_memory_mib);
}

bool measure_rows_admit(const struct measure_rows *rows, const struct fanout_source *source,
                        size_t declared, struct slice head, struct error *err)
{
    const unsigned accepted = rows->options->frame_versions;
    return check(rows, source, rows_of_response(head, declared, accepted), err);
}

bool measure_rows_take(struct measure_rows *rows, const struct fanout_source *source,
                       struct slice frame, struct error *err)
{
    const size_t count = decode_rows(frame, frame.len, rows->options->frame_versions);
    fewest_add(&rows->fewest, source->question, count);
    return check(rows, source, count, err);
}
