// SPDX-License-Identifier: Apache-2.0
#include "liaison/query/measure_parts.h"

#include "liaison/query/rounds.h"
#include "proto/moment.h"
#include "proto/request_parts.h"

#include <sys/param.h>

/* A part that has cost less than one in so many of what it was to does not tell what the next ones
 * cost. */
#define TELLS 4

static const struct options *options_of(const struct measure_parts *parts)
{
    return parts->work->options;
}

/* What the answers to one question may have. 0: anything. */
static size_t most_bytes(const struct measure_parts *parts)
{
    const size_t most = (size_t)options_of(parts)->aggregation_slice_size;
    return most == 0 ? 0 : MAX(most, 2 * parts->least_bytes);
}

void measure_parts_init(struct measure_parts *parts, struct work *work,
                        const struct request *request)
{
    const Banyandb__Model__V1__TimeRange *range = request->message->time_range;
    *parts = (struct measure_parts){
        .work = work,
        .request = request,
        .obstacle = request_parts_obstacle(request, work->world->catalog, work->arena),
        .slices =
            slices_of(moment_nanos(moment_of(range->begin)), moment_nanos(moment_of(range->end))),
    };
}

/* Besides the one that is asked, or the next if there is none. */
static bool has_more_questions(const struct measure_parts *parts)
{
    return parts->asked < (size_t)options_of(parts)->aggregation_max_slices;
}

/* What cannot be cut may cost whatever there is. */
static size_t limit_of(const struct measure_parts *parts)
{
    if (!parts->may_cut) {
        return work_budget(parts->work);
    }
    const size_t room = split_room(&parts->split);
    const size_t most = parts->cut ? 2 * split_aim(&parts->split) : room / 4 * 3;
    return parts->split.kept + MIN(most, room);
}

/* Nothing is asked ahead. */
static bool is_alone(const struct measure_parts *parts)
{
    return parts->work->trace || parts->work->rounds->most == 0 ||
           2 * parts->asked >= (size_t)options_of(parts)->aggregation_max_slices;
}

/* As much as a millisecond has cost has to be there in any case, and cutting the others shorter
 * would gain nothing. */
static struct split split_now(const struct measure_parts *parts)
{
    const struct work *work = parts->work;
    return (struct split){
        .budget = work_budget(work),
        .kept = work->charge->total + work->promised - rounds_hold(work->rounds),
        .least = 2 * parts->least_cost,
        .alone = is_alone(parts),
    };
}

void measure_parts_begin(struct measure_parts *parts, size_t calls)
{
    struct work *work = parts->work;
    parts->calls = calls;
    parts->split = split_now(parts);
    parts->asked++;
    parts->may_cut = parts->obstacle == NULL && has_more_questions(parts) && !parts->shortest &&
                     !split_is_spent(&parts->split);
    work->limit = limit_of(parts);
    work->spare = split_spare(&parts->split);
    work->front->slice = parts->slices;
    work->front->intake.most_bytes = parts->may_cut ? most_bytes(parts) : 0;
}

bool measure_parts_ahead(const struct measure_parts *parts, struct round *round)
{
    const struct work *work = parts->work;
    const struct slices *last = rounds_last_slice(work->rounds);
    const size_t ahead = rounds_ahead(work->rounds) + 1;
    if (!parts->cut || !parts->may_cut || parts->expected == 0 || slices_is_last(last) ||
        ahead > split_ahead(work->spare, parts->expected) ||
        parts->asked + ahead >= (size_t)options_of(parts)->aggregation_max_slices) {
        return false;
    }
    round->slice = *last;
    slices_go_on(&round->slice, parts->length);
    round->intake.most_bytes = most_bytes(parts);
    return true;
}

const Banyandb__Model__V1__TimeRange *measure_parts_range(const struct measure_parts *parts,
                                                          const struct slices *slice,
                                                          struct measure_parts_range *room)
{
    if (!parts->cut) {
        return parts->request->message->time_range;
    }
    banyandb__model__v1__time_range__init(&room->range);
    room->begin = moment_timestamp(slice->begin);
    room->end = moment_timestamp(slice->last);
    room->range.begin = &room->begin;
    room->range.end = &room->end;
    return &room->range;
}

static size_t cost_of(const struct measure_parts *parts)
{
    const size_t held = work_held(parts->work);
    return held > parts->split.kept ? held - parts->split.kept : 0;
}

void measure_parts_end(struct measure_parts *parts, bool has_rows)
{
    parts->has_rows = has_rows;
    parts->cost = cost_of(parts);
    parts->bytes = parts->work->front->intake.bytes;
    if (parts->shortest) {
        parts->least_cost = MAX(parts->least_cost, parts->cost);
        parts->least_bytes = MAX(parts->least_bytes, parts->bytes);
    }
    parts->work->limit = work_budget(parts->work);
    parts->work->slices += parts->cut;
    parts->work->slices_ahead += parts->work->front->was_ahead;
}

/* How many times as much as `aim` it is. What a millisecond has, too, does not come from the length
 * of a part. */
static double ratio(size_t amount, size_t aim, size_t least)
{
    return amount <= least || aim <= least ? 0 : (double)(amount - least) / (double)(aim - least);
}

/* How many times as much as it is meant to the part costs: what it holds, or by its bytes. */
static double excess(const struct measure_parts *parts, size_t cost, size_t bytes)
{
    const double by_cost = ratio(cost, split_aim(&parts->split), parts->least_cost);
    const double by_bytes = 2 * ratio(bytes, most_bytes(parts), parts->least_bytes);
    return by_cost > by_bytes ? by_cost : by_bytes;
}

/* In how many parts each would cost what it is meant to, if the answers that are known are
 * anything to go by. */
static uint64_t count_parts(const struct measure_parts *parts)
{
    const struct round_intake *intake = &parts->work->front->intake;
    const size_t known = intake->messages + (intake->refused > 0);
    double count = excess(parts, cost_of(parts) + intake->refused, intake->bytes + intake->refused);
    count *= known == 0 ? 1 : (double)parts->calls / (double)known;
    count = count < 2 ? 2 : count + 1;
    count *= (double)(UINT64_C(1) << MIN(parts->cuts, 20)); /* to be done with it */
    return count < 1e12 ? (uint64_t)count : UINT64_C(1000000000000);
}

/* The process holds too much, and this part hardly any of it. */
static bool is_turned_away(const struct measure_parts *parts)
{
    return parts->work->crowded &&
           cost_of(parts) + parts->work->front->intake.refused <= BUDGET_SHARE / 4;
}

static bool refuse(const struct measure_parts *parts, struct error *why)
{
    const struct error said = *why;
    if (parts->obstacle != NULL) {
        return error_set(why, said.code, "%s; its range is not asked for in parts: %s", said.text,
                         parts->obstacle);
    }
    if (!has_more_questions(parts)) {
        return error_set(why, said.code,
                         "%s; its range was asked for in parts, %zu questions are the most "
                         "(--aggregation-max-slices)",
                         said.text, parts->asked);
    }
    return false;
}

bool measure_parts_shorten(struct measure_parts *parts, struct error *why)
{
    if (!parts->may_cut || is_turned_away(parts)) {
        return refuse(parts, why);
    }
    rounds_begin_again(parts->work->rounds);
    parts->shortest = !slices_cut(&parts->slices, count_parts(parts));
    parts->cut = true;
    parts->cuts++;
    parts->work->crowded = false;
    return true;
}

/* By the part that was folded. */
static void expect(struct measure_parts *parts)
{
    const double times = parts->has_rows ? excess(parts, parts->cost, parts->bytes) : 0;
    parts->length = slices_next_length(&parts->slices, times);
    parts->expected = times * TELLS < 1 ? 0 : (size_t)((double)parts->bytes / times) + 1;
}

void measure_parts_next(struct measure_parts *parts)
{
    const struct slices *next = rounds_next_slice(parts->work->rounds);
    expect(parts);
    parts->shortest = false;
    parts->cuts = 0;
    if (next != NULL) {
        parts->slices = *next;
        return;
    }
    slices_go_on(&parts->slices, parts->length);
    if (parts->asked + 1 >= (size_t)options_of(parts)->aggregation_max_slices) {
        slices_take_rest(&parts->slices);
    }
}
