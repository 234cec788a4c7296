// SPDX-License-Identifier: Apache-2.0
/*
 * A round of questions to the nodes, and what becomes of their answers.
 *
 *     round_ask ─▶ answers, losses … ─▶ on_end
 *         ▲             └─▶ the work asks again, in its turn, in another way, or for less
 *         └─────────────────────────────────┘
 *     round_ask_ahead ─▶ answers wait … ─▶ round_take_turn ─▶ as above
 *
 * What lives for one of them (the calls, the bytes of the questions) lies in a region of its own,
 * so that a query of many rounds holds no more than one of few. That and the answers have a charge
 * of their own within the query's: what the answers to one question cost is known whatever else the
 * query holds.
 */
#pragma once

#include "liaison/query/job.h"
#include "liaison/query/slices.h"
#include "liaison/query/work.h"

/* What nodes may send, and have sent. */
struct round_intake {
    size_t most_bytes; /* of all messages; 0 = any number */
    size_t messages;   /* admitted */
    size_t bytes;
    size_t refused; /* bytes of the one that was not admitted, 0 = none */
};

struct round {
    struct executor *executor; /* borrow: outlives it */
    struct job *job;           /* borrow: the query's; told what the answer lacks */
    struct work *work;         /* borrow: the query's region */
    /* All have answered, or `failed` says what went wrong: the answer ends with that. Comes from
     * the loop, at most once for each round_ask. */
    void (*on_end)(void *owner, const struct error *failed);
    void *owner; /* borrow: outlives it */

    struct charge charge;  /* part of the query's: the region, the calls, their messages */
    struct slices slice;   /* FOLD: of the time range, the one that is asked for */
    bool was_ahead;        /* it was asked before its turn */
    bool ahead;            /* and waits for it */
    bool tentative;        /* asked ahead, or others were beside it: when it fails, who knows why */
    bool open;             /* asked and not closed: otherwise `work` may be gone */
    struct arena region;   /* while it is open */
    struct fanout *fanout; /* borrow: the region; likewise */
    struct round_intake intake; /* since it was asked */
    struct loop_task take;      /* in the executor's queue, while answers wait to be taken in */
    bool refused;               /* something did not fit; `refusal` says what */
    struct error *refusal;      /* borrow: the region; kept for `after` */
    struct loop_task after;     /* in the executor's queue: what needs the calls off the stack */
};

/* The fields above `charge` are set. */
void round_init(struct round *round);
/* Asks what the work has to ask; it is closed before. */
void round_ask(struct round *round);
/* Asks for `slice` before it is its turn, with so many calls. Answers are kept as they come, if
 * there is room. */
void round_ask_ahead(struct round *round, size_t calls);
/* It is its turn: answers are taken in. It has not failed. */
void round_take_turn(struct round *round);
/* A call has, or an answer had no room. */
bool round_has_failed(const struct round *round);
/* Cancels the calls and gives up what lived for the round; on_end does not come any more. Without
 * an open round it does nothing. */
void round_close(struct round *round);
