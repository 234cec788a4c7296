// SPDX-License-Identifier: Apache-2.0
#include "liaison/query/topn_window.h"

/* What a node is first asked for in a bucket, and how much more when that was not enough. */
#define FIRST_NUMBER 1000
#define MORE         10

struct topn_question {
    size_t group;
    int64_t bucket;           /* nanoseconds since the epoch; by buckets */
    size_t open;              /* nodes whose lists are not in */
    int64_t *asked;           /* borrow: region; by member: the items that it was last asked for */
    struct topn_batch *batch; /* borrow: region */
    bool folding;             /* all lists are in, and their values go to the entities */
};

static size_t count_questions(const struct topn_window *window)
{
    const struct topn_request *request = window->request;
    if (!window->by_buckets) {
        return request->group_count;
    }
    uint64_t count = 0;
    for (size_t i = 0; i < request->group_count; i++) {
        count += request->rules[i].buckets.count;
    }
    return count < TOPN_WINDOW_SIZE ? (size_t)count : TOPN_WINDOW_SIZE;
}

static size_t most_nodes(const struct broadcast *broadcast)
{
    size_t most = 0;
    for (size_t i = 0; i < broadcast->group_count; i++) {
        size_t nodes = broadcast_size(broadcast, i);
        most = nodes > most ? nodes : most;
    }
    return most;
}

size_t topn_window_open(struct topn_window *window, struct topn *topn)
{
    size_t members = window->broadcast->world->member_count;
    window->question_count = count_questions(window);
    window->questions = arena_array(window->arena, struct topn_question, window->question_count);
    for (size_t i = 0; i < window->question_count; i++) {
        window->questions[i].asked = arena_array(window->arena, int64_t, members);
        window->questions[i].batch = topn_batch_new(topn);
    }
    return window->question_count * most_nodes(window->broadcast);
}

static int64_t first_number(const struct topn_window *window, size_t group)
{
    int64_t number = window->request->message->top_n;
    if (window->by_buckets) {
        int64_t kept = window->request->rules[group].rule->counters_number;
        number = number > kept ? number : kept;
        number = number > FIRST_NUMBER ? number : FIRST_NUMBER;
    }
    return number < TOPN_REQUEST_MAX_NUMBER ? number : TOPN_REQUEST_MAX_NUMBER;
}

static struct broadcast_question spell(const struct topn_window *window,
                                       const struct topn_question *question, int64_t number)
{
    const int64_t *bucket = window->by_buckets ? &question->bucket : NULL;
    return (struct broadcast_question){
        .number = (size_t)(question - window->questions),
        .group = question->group,
        .topic = "v1:topN-query",
        .body = topn_request_push(window->request, question->group, bucket, number, window->arena),
    };
}

/* The bytes of a question are sent at once, so the region takes them back; but not when a call
 * failed at once, which it keeps the reason of. */
static void give_back(struct topn_window *window, const struct fanout *fanout,
                      struct arena_mark mark)
{
    if (!fanout_has_failed(fanout)) {
        arena_rewind(window->arena, mark);
    }
}

static void ask_all(struct topn_window *window, struct fanout *fanout,
                    struct topn_question *question)
{
    int64_t number = first_number(window, question->group);
    for (size_t i = 0; i < window->broadcast->world->member_count; i++) {
        question->asked[i] = number;
    }
    question->open = broadcast_size(window->broadcast, question->group);
    topn_batch_begin(question->batch, question->group);
    struct arena_mark mark = arena_mark(window->arena);
    const struct broadcast_question spelled = spell(window, question, number);
    broadcast_ask(window->broadcast, fanout, &spelled);
    give_back(window, fanout, mark);
}

static void ask_for_more(struct topn_window *window, struct fanout *fanout,
                         struct topn_question *question, size_t rank)
{
    int64_t number = question->asked[rank] * MORE;
    question->asked[rank] = number < TOPN_REQUEST_MAX_NUMBER ? number : TOPN_REQUEST_MAX_NUMBER;
    struct arena_mark mark = arena_mark(window->arena);
    const struct broadcast_question spelled = spell(window, question, question->asked[rank]);
    broadcast_ask_one(window->broadcast, fanout, &spelled, rank);
    give_back(window, fanout, mark);
}

/* The next group, or the next bucket of one, goes to this question; false: all are asked. */
static bool take_next(struct topn_window *window, struct topn_question *question)
{
    const struct topn_request *request = window->request;
    while (window->next_group < request->group_count) {
        const struct interval_buckets *buckets = &request->rules[window->next_group].buckets;
        uint64_t count = window->by_buckets ? buckets->count : 1;
        if (window->next_bucket < count) {
            question->group = window->next_group;
            question->bucket = buckets->first + (int64_t)window->next_bucket * buckets->interval;
            window->next_bucket++;
            return true;
        }
        window->next_group++;
        window->next_bucket = 0;
    }
    return false;
}

void topn_window_ask(struct topn_window *window, struct fanout *fanout)
{
    for (size_t i = 0; i < window->question_count; i++) {
        if (take_next(window, &window->questions[i])) {
            ask_all(window, fanout, &window->questions[i]);
        }
    }
}

size_t topn_window_group(const struct topn_window *window, size_t question)
{
    return window->questions[question].group;
}

int64_t topn_window_bucket(const struct topn_window *window, size_t question)
{
    return window->by_buckets ? window->questions[question].bucket : 0;
}

/* True: the node is asked again, for more. Over the whole range nobody needs more than the client
 * wants. */
static bool is_asked_again(struct topn_window *window, struct fanout *fanout,
                           struct topn_question *question, size_t rank, size_t items)
{
    int64_t asked = question->asked[rank];
    bool enough = !window->by_buckets && asked == window->request->message->top_n;
    if (enough || items < (size_t)asked) {
        return false;
    }
    if (asked == TOPN_REQUEST_MAX_NUMBER) {
        window->cut = true;
        return false;
    }
    ask_for_more(window, fanout, question, rank);
    return true;
}

/* Those that have answered hold every row of the question. */
static bool others_suffice(const struct topn_window *window, const struct fanout *fanout,
                           size_t question)
{
    const size_t members = window->broadcast->world->member_count;
    struct arena_mark mark = arena_mark(window->arena);
    bool *waiting = arena_array(window->arena, bool, members);
    memset(waiting, 0, members * sizeof *waiting);
    fanout_mark_open_of(fanout, question, waiting);
    bool suffice = broadcast_can_spare(window->broadcast, waiting);
    arena_rewind(window->arena, mark);
    return suffice;
}

/* No node is waited for any more, or need be. */
static bool is_over(struct topn_window *window, struct fanout *fanout, size_t number)
{
    struct topn_question *question = &window->questions[number];
    if (question->open > 0 && window->skips_slow && others_suffice(window, fanout, number)) {
        fanout_abandon_of(fanout, number);
        question->open = 0;
    }
    return question->open == 0;
}

void topn_window_answer(struct topn_window *window, const struct fanout_source *source,
                        struct slice body)
{
    topn_batch_offer(window->questions[source->question].batch, body);
}

/* The values of a question go to the entities, and its place to the next one. */
static enum progress fold(struct topn_window *window, struct fanout *fanout,
                          struct topn_question *question, size_t *left)
{
    question->folding = !topn_batch_fold_some(question->batch, left);
    if (question->folding) {
        return PROGRESS_MORE;
    }
    if (take_next(window, question)) {
        ask_all(window, fanout, question);
    }
    return PROGRESS_DONE;
}

enum progress topn_window_take(struct topn_window *window, struct fanout *fanout,
                               const struct fanout_source *source, size_t *left, struct error *err)
{
    struct topn_question *question = &window->questions[source->question];
    size_t items = 0;
    if (question->folding) {
        return fold(window, fanout, question, left);
    }
    enum progress progress = topn_batch_take(question->batch, left, &items, err);
    if (progress != PROGRESS_DONE || fanout_has_failed(fanout)) {
        return progress;
    }
    question->open -= !is_asked_again(window, fanout, question, source->rank, items);
    if (!is_over(window, fanout, source->question)) {
        return PROGRESS_DONE;
    }
    return fold(window, fanout, question, left);
}
