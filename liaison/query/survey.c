// SPDX-License-Identifier: Apache-2.0
/* The mailboxes of the loops carry the question there and the answer back. */
#include "liaison/query/survey.h"

#include "liaison/container_of.h"
#include "liaison/own.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct question {
    struct loop_task there;
    struct loop_task back;
    struct survey *survey;     /* borrow: until it is back */
    struct executor *executor; /* borrow: its loop runs what was posted before it ends */
    struct survey_part *part;  /* borrow: the survey's */
};

struct survey {
    struct survey_setup setup;
    size_t open;
    struct question *questions; /* own */
    struct survey_part *parts;  /* own */
};

static void free_part(struct survey_part *part)
{
    for (size_t i = 0; i < part->count; i++) {
        free(part->nodes[i].name);
    }
    free(part->nodes);
    world_release(&part->world);
}

static void finish(struct survey *survey)
{
    const struct survey_result result = {.count = survey->setup.executor_count,
                                         .parts = survey->parts};
    survey->setup.on_done(survey->setup.owner, &result);
    for (size_t i = 0; i < survey->setup.executor_count; i++) {
        free_part(&survey->parts[i]);
    }
    free(survey->parts);
    free(survey->questions);
    free(survey);
}

/* Back on the asker's loop. */
static void run_back(struct loop_task *task)
{
    struct survey *survey = container_of(task, struct question, back)->survey;
    if (--survey->open == 0) {
        finish(survey);
    }
}

/* On the executor's loop. */
static void run_there(struct loop_task *task)
{
    struct question *question = container_of(task, struct question, there);
    if (question->executor != NULL) {
        executor_report(question->executor, question->part);
    }
    loop_post(question->survey->setup.loop, &question->back);
}

static void ask(struct survey *survey, size_t i)
{
    struct executor *executor = survey->setup.executors[i];
    struct question *question = &survey->questions[i];
    *question = (struct question){
        .there = {.run = run_there},
        .back = {.run = run_back},
        .survey = survey,
        .executor = executor,
        .part = &survey->parts[i],
    };
    loop_post(executor == NULL ? survey->setup.loop : executor_loop(executor), &question->there);
}

void survey_begin(const struct survey_setup *setup)
{
    assert(setup->executor_count > 0); /* the last answer ends it */
    struct survey *survey = own_array(1, sizeof *survey);
    survey->setup = *setup;
    survey->open = setup->executor_count;
    survey->questions = own_array(setup->executor_count, sizeof *survey->questions);
    survey->parts = own_array(setup->executor_count, sizeof *survey->parts);
    for (size_t i = 0; i < setup->executor_count; i++) {
        ask(survey, i);
    }
}

const struct world *survey_world(const struct survey_result *result)
{
    for (size_t i = 0; i < result->count; i++) {
        if (result->parts[i].world != NULL) {
            return result->parts[i].world;
        }
    }
    return NULL;
}

size_t survey_up(const struct survey_result *result, const char *name)
{
    size_t up = 0;
    for (size_t i = 0; i < result->count; i++) {
        const struct survey_part *part = &result->parts[i];
        for (size_t j = 0; j < part->count; j++) {
            up += part->nodes[j].report.state == NODE_UP && strcmp(part->nodes[j].name, name) == 0;
        }
    }
    return up;
}
