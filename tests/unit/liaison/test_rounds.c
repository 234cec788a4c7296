// SPDX-License-Identifier: Apache-2.0
/* The queue of rounds alone: what a round does is played here, and the rounds tell what was asked
 * of them. */
#include "liaison/query/rounds.h"
#include "tests/unit/frame/unit.h"

/* The played work: slices are numbered by their begin. */
struct played {
    struct work work; /* first */
    int64_t next;     /* to be asked in its turn */
    int64_t end;      /* there are so many */
    size_t wanted;    /* ahead */
};

static struct rounds rounds;
static struct played played;
static bool fails[100]; /* by slice: when it is asked ahead */

void round_init(struct round *round)
{
    round->charge = (struct charge){.parent = round->work->charge};
}

static void begin(struct round *round)
{
    ck_assert(!round->open && round->charge.total == 0);
    round->open = true;
    charge_add(&round->charge, CHARGE_MESSAGE, 10);
}

void round_ask(struct round *round)
{
    begin(round);
    round->was_ahead = false;
    round->tentative = false;
    round->slice.begin = played.next;
    played.work.front = round;
}

void round_ask_ahead(struct round *round, size_t calls)
{
    ck_assert_uint_eq(calls, 2);
    begin(round);
    round->was_ahead = true;
    round->tentative = true;
    round->ahead = true;
    round->refused = fails[round->slice.begin];
}

void round_take_turn(struct round *round)
{
    ck_assert(round->open && round->ahead && !round->refused);
    round->ahead = false;
    played.work.front = round;
}

bool round_has_failed(const struct round *round)
{
    return round->refused;
}

void round_close(struct round *round)
{
    if (round->open) {
        charge_drop(&round->charge, CHARGE_MESSAGE, 10);
    }
    round->open = false;
    round->ahead = false;
    round->refused = false;
}

bool broadcast_prepare(struct broadcast *broadcast, struct error *err)
{
    (void)broadcast;
    (void)err;
    return true;
}

static size_t choose_ahead(struct work *work, struct round *round)
{
    (void)work;
    const int64_t next = rounds_last_slice(&rounds)->begin + 1;
    if (rounds_ahead(&rounds) >= played.wanted || next >= played.end) {
        return 0;
    }
    round->slice.begin = next;
    return 2;
}

static const struct work_ops ops = {.ahead = choose_ahead};
static struct charge charge;
static struct job job;

static void open(size_t wanted, int64_t end)
{
    charge = (struct charge){.total = 0};
    memset(fails, 0, sizeof fails);
    rounds = (struct rounds){.first = 0};
    played = (struct played){
        .work = {.ops = &ops, .charge = &charge, .rounds = &rounds}, .end = end, .wanted = wanted};
    rounds_init(&rounds, &(struct rounds_setup){.work = &played.work, .job = &job});
    rounds_ask(&rounds);
}

static int64_t front(void)
{
    return played.work.front->slice.begin;
}

/* As measure_parts does when the front is merged. */
static void go_on(void)
{
    const struct slices *next = rounds_next_slice(&rounds);
    ck_assert(next == NULL || next->begin == front() + 1);
    played.next = front() + 1;
    rounds_go_on(&rounds);
}

static void close(void)
{
    rounds_close(&rounds);
    ck_assert_uint_eq(charge.total, 0);
    ck_assert_uint_eq(charge.count[CHARGE_MESSAGE], 0);
}

static void expect_ahead(int64_t slice, size_t ahead)
{
    ck_assert_int_eq(front(), slice);
    ck_assert_uint_eq(rounds_ahead(&rounds), ahead);
    ck_assert_int_eq(rounds_last_slice(&rounds)->begin, slice + (int64_t)ahead);
}

START_TEST(one_after_the_other)
{
    open((size_t)_i, 30);
    ck_assert_uint_eq(rounds_ahead(&rounds), 0);
    for (int64_t slice = 0; slice < 29; slice++) {
        const size_t left = (size_t)(28 - slice);
        const size_t wanted = (size_t)_i < ROUNDS_AHEAD ? (size_t)_i : ROUNDS_AHEAD;
        go_on();
        expect_ahead(slice + 1, left < wanted ? left : wanted);
    }
    ck_assert_int_eq(front(), 29);
    ck_assert_uint_eq(rounds.in_vain, 0);
    close();
}
END_TEST

START_TEST(what_they_hold)
{
    open(3, 30);
    ck_assert_uint_eq(rounds_hold(&rounds), 10);
    go_on();
    ck_assert_uint_eq(rounds_hold(&rounds), 40);
    ck_assert_uint_eq(rounds_hold_ahead(&rounds), 30);
    ck_assert_uint_eq(charge.total, 40);
    ck_assert_uint_eq(rounds.widest, 3);
    close();
    ck_assert_uint_eq(rounds_hold(&rounds), 0);
}
END_TEST

START_TEST(the_last_gives_way_first)
{
    open(4, 30);
    ck_assert(!rounds_give_way(&rounds));
    go_on();
    for (size_t ahead = 4; ahead > 0; ahead--) {
        expect_ahead(1, ahead);
        ck_assert(rounds_give_way(&rounds));
    }
    ck_assert(!rounds_give_way(&rounds));
    ck_assert_uint_eq(rounds.in_vain, 4);
    ck_assert_uint_eq(rounds_hold_ahead(&rounds), 0);
    go_on(); /* and are not asked ahead at once again */
    expect_ahead(2, 0);
    close();
}
END_TEST

START_TEST(those_behind_give_way_to_one_that_is_ahead)
{
    open(4, 30);
    go_on();
    const struct round *second = &rounds.ring[(rounds.first + 2) % (1 + ROUNDS_AHEAD)];
    ck_assert(rounds_give_way_to(&rounds, second));
    ck_assert(rounds_give_way_to(&rounds, second));
    ck_assert(!rounds_give_way_to(&rounds, second));
    ck_assert_uint_eq(rounds_ahead(&rounds), 2);
    ck_assert_ptr_eq(rounds_last_slice(&rounds), &second->slice);
    close();
}
END_TEST

START_TEST(what_fails_ahead_is_asked_in_its_turn)
{
    open(4, 90);
    fails[3] = true;
    for (int64_t slice = 0; slice < 89; slice++) {
        ck_assert_int_eq(front(), slice);
        go_on();
        ck_assert_int_eq(played.work.front->was_ahead, front() != 1 && front() != 3);
        fails[3] = fails[3] && front() < 3;
    }
    ck_assert_uint_eq(rounds.in_vain, 4);
    close();
}
END_TEST

START_TEST(fewer_are_ahead_after_each_one_in_vain)
{
    static const size_t ahead[] = {4, 2, 1, 0, 0};
    open(4, 90);
    for (size_t i = 0; i < 5; i++) {
        go_on();
        ck_assert_uint_eq(rounds_ahead(&rounds), ahead[i]);
        rounds_begin_again(&rounds);
        ck_assert_uint_eq(rounds_ahead(&rounds), 0);
    }
    for (size_t calm = 0; calm < 40; calm++) {
        go_on();
    }
    ck_assert_uint_eq(rounds_ahead(&rounds), 4);
    close();
}
END_TEST

/* The first parts, which are cut to size. */
START_TEST(what_was_alone_when_it_began_again_tells_nothing)
{
    open(4, 90);
    rounds_begin_again(&rounds);
    rounds_begin_again(&rounds);
    ck_assert_uint_eq(rounds.in_vain, 0);
    go_on();
    ck_assert_uint_eq(rounds_ahead(&rounds), 4);
    close();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rounds");
    TCase *tcase = tcase_create("rounds");
    tcase_add_loop_test(tcase, one_after_the_other, 0, 7);
    tcase_add_test(tcase, what_they_hold);
    tcase_add_test(tcase, the_last_gives_way_first);
    tcase_add_test(tcase, those_behind_give_way_to_one_that_is_ahead);
    tcase_add_test(tcase, what_fails_ahead_is_asked_in_its_turn);
    tcase_add_test(tcase, fewer_are_ahead_after_each_one_in_vain);
    tcase_add_test(tcase, what_was_alone_when_it_began_again_tells_nothing);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
