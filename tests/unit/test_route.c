/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the shorter route is found, whichever it is and becomes, and looking at the other costs
 * little, the first time too. */
#include "policy/route.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define S (1000 * MS)

static unsigned seed = 1;

static uint64_t drawn(uint64_t below)
{
    seed = seed * 1103515245U + 12345U;
    return (uint64_t)(seed >> 8 & 0xffff) * below / 0x10000;
}

/* A program: rounds of `operations`, and computing in between. By the owner an operation waits besides for a
 * target that computes. */
struct program {
    uint64_t operations, ghost_ns, owner_ns; /* an operation */
    uint64_t computing_ns;                   /* between two rounds */
    bool waits;                              /* owners compute, too */
    int share_percent;
};

struct run {
    struct hw_route route;
    uint64_t now_ns, rounds_left, rounds_by[HW_ROUTE_WAYS], took_ns, best_ns, timed, since_timed, timed_ns;
};

/* The part of all time that looks may take. */
static uint64_t spare_ns(const struct run *run)
{
    uint64_t all_ns = run->now_ns / 50;
    return all_ns > run->route.spent_ns ? all_ns - run->route.spent_ns : 0;
}

static void round_of(struct run *run, const struct program *program)
{
    enum hw_route_way way = hw_route_next(&run->route);
    uint64_t wait_ns = program->waits ? drawn(program->computing_ns) : 0;
    uint64_t ghost_ns = program->operations * program->ghost_ns;
    uint64_t owner_ns = program->operations * program->owner_ns + wait_ns;
    uint64_t mean_ns =
        program->operations * program->owner_ns + (program->waits ? program->computing_ns / 2 : 0);
    uint64_t cost_ns = way == HW_ROUTE_GHOST ? ghost_ns : owner_ns;
    cost_ns += drawn(cost_ns / 16 + 1) + (drawn(100) == 7 ? 4 * MS : 0); /* somebody else has the core */
    run->now_ns += program->computing_ns + cost_ns;
    run->took_ns += program->computing_ns + (way == HW_ROUTE_GHOST ? ghost_ns : owner_ns);
    run->best_ns += program->computing_ns + (ghost_ns < mean_ns ? ghost_ns : mean_ns);
    run->rounds_by[way]++;
    run->since_timed++;
    if (run->rounds_left > 0 && run->now_ns - run->timed_ns < 5 * MS) {
        run->rounds_left--;
        return;
    }
    run->timed++;
    run->timed_ns = run->now_ns;
    run->rounds_left =
        hw_route_learn(&run->route, &(struct hw_route_round){.way = way,
                                                             .operations = program->operations,
                                                             .cost_ns = cost_ns,
                                                             .rounds = run->since_timed,
                                                             .share_percent = program->share_percent,
                                                             .away_ns = program->computing_ns,
                                                             .spare_ns = spare_ns(run)});
    run->since_timed = 0;
}

static void run_for(struct run *run, const struct program *program, uint64_t ns)
{
    for (uint64_t end_ns = run->now_ns + ns; run->now_ns < end_ns;)
        round_of(run, program);
}

static const struct program communicating = {
    .operations = 1, .ghost_ns = 8 * US, .owner_ns = 2 * US, .computing_ns = 3 * US, .share_percent = 95};
static const struct program computing = {.operations = 10,
                                         .ghost_ns = 8 * US,
                                         .owner_ns = 2 * US,
                                         .computing_ns = 2 * MS,
                                         .waits = true,
                                         .share_percent = 5};

static void where_all_communicate_the_owner_is_found(void **state)
{
    (void)state;
    struct run run = {.now_ns = 1};
    run_for(&run, &communicating, S);
    assert_int_equal(run.route.way, HW_ROUTE_OWNER);
    assert_int_equal(run.route.cause, HW_ROUTE_SHORTER);
    assert_true(run.took_ns * 100 < run.best_ns * 102);
    assert_true(run.timed * 10 < run.rounds_by[HW_ROUTE_OWNER]);
}

static void where_owners_compute_the_ghost_stays(void **state)
{
    (void)state;
    struct run run = {.now_ns = 1};
    run_for(&run, &computing, 5 * S);
    assert_int_equal(run.route.way, HW_ROUTE_GHOST);
    assert_true(run.route.looks > 0); /* the owner was tried */
    assert_true(run.took_ns * 100 < run.best_ns * 102);
}

/* The first look is dear where rounds are far apart. */
static void nothing_is_tried_that_the_run_cannot_afford(void **state)
{
    (void)state;
    struct program coarse = computing;
    coarse.computing_ns = 200 * MS;
    struct run run = {.now_ns = 1};
    run_for(&run, &coarse, 5 * S);
    assert_int_equal(run.rounds_by[HW_ROUTE_OWNER], 0);
    assert_int_equal(run.route.cause, HW_ROUTE_BEGUN);
}

static void a_phase_is_followed_both_ways(void **state)
{
    (void)state;
    struct run run = {.now_ns = 1};
    for (int i = 0; i < 3; i++) {
        run_for(&run, &communicating, S);
        assert_int_equal(run.route.way, HW_ROUTE_OWNER);
        run_for(&run, &computing, S);
        assert_int_equal(run.route.way, HW_ROUTE_GHOST);
    }
    assert_true(run.took_ns * 100 < run.best_ns * 105);
}

/* Where the share is not known, what rounds cost says it. */
static void a_phase_is_followed_without_a_share(void **state)
{
    (void)state;
    struct program first = communicating, second = computing;
    first.share_percent = second.share_percent = -1;
    struct run run = {.now_ns = 1};
    run_for(&run, &first, S);
    assert_int_equal(run.route.way, HW_ROUTE_OWNER);
    run_for(&run, &second, S);
    assert_int_equal(run.route.way, HW_ROUTE_GHOST);
}

/* A phase of a few long rounds is noticed in the first of them. */
static void a_short_phase_is_noticed(void **state)
{
    (void)state;
    struct program coarse = computing;
    coarse.computing_ns = 10 * MS;
    coarse.share_percent = -1;
    struct run run = {.now_ns = 1};
    run_for(&run, &communicating, S);
    assert_int_equal(run.route.way, HW_ROUTE_OWNER);
    uint64_t before = run.rounds_by[HW_ROUTE_OWNER];
    run_for(&run, &coarse, 200 * MS);
    assert_int_equal(run.route.way, HW_ROUTE_GHOST);
    assert_in_range(run.rounds_by[HW_ROUTE_OWNER] - before, 1, 6);
}

/* Where a look lasts for many rounds, it waits until the run can spare them all. */
static void a_long_look_waits_for_its_price(void **state)
{
    (void)state;
    const struct hw_route_round away = {.way = HW_ROUTE_GHOST,
                                        .operations = 1,
                                        .cost_ns = 8 * US,
                                        .rounds = 1,
                                        .share_percent = -1,
                                        .away_ns = MS,
                                        .spare_ns = 99 * MS,
                                        .look = 100};
    struct hw_route_round rounds[] = {away, away}; /* the second: an owner is there, but has no core */
    rounds[1].away_ns = 0;
    rounds[1].turn_ns = MS;
    for (int which = 0; which < 2; which++) {
        struct hw_route route = {0};
        for (int i = 0; i < 100; i++)
            hw_route_learn(&route, &rounds[which]);
        assert_int_equal(route.phase, HW_ROUTE_USED);
        rounds[which].spare_ns = 100 * MS;
        hw_route_learn(&route, &rounds[which]);
        assert_int_equal(route.phase, HW_ROUTE_BEFORE);
    }
}

static void equal_routes_are_not_changed_to_and_fro(void **state)
{
    (void)state;
    struct program even = communicating;
    even.owner_ns = even.ghost_ns;
    struct run run = {.now_ns = 1};
    int changes = 0;
    for (enum hw_route_way way = HW_ROUTE_GHOST; run.now_ns < S;) {
        round_of(&run, &even);
        changes += run.route.way != way;
        way = run.route.way;
    }
    assert_in_range(changes, 0, 2);
    assert_true(run.route.controls > 0);
}

static void a_round_by_the_other_route_says_nothing(void **state)
{
    (void)state;
    struct run run = {.now_ns = 1};
    for (int i = 0; i < 3; i++)
        round_of(&run, &communicating);
    struct hw_route before = run.route;
    hw_route_learn(&run.route, &(struct hw_route_round){HW_ROUTE_OWNER, 1, 1, 1, 95, 1, 0, S, 0});
    assert_int_equal(run.route.by[HW_ROUTE_OWNER].count, before.by[HW_ROUTE_OWNER].count);
    assert_int_equal(run.route.by[HW_ROUTE_GHOST].count, before.by[HW_ROUTE_GHOST].count);
}

static void what_others_decided_is_taken(void **state)
{
    (void)state;
    struct run run = {.now_ns = 1};
    run_for(&run, &communicating, S);
    assert_int_equal(run.route.way, HW_ROUTE_OWNER);
    hw_route_use(&run.route, HW_ROUTE_GHOST);
    assert_int_equal(hw_route_next(&run.route), HW_ROUTE_GHOST);
    run_for(&run, &communicating, S);
    assert_int_equal(run.route.way, HW_ROUTE_OWNER); /* and found to be the longer */
}

/* Processes that agree on sums decide alike from them. */
static void the_same_rounds_give_the_same_routes(void **state)
{
    (void)state;
    struct hw_route one = {0}, other = {0};
    for (int i = 0; i < 5000; i++) {
        struct hw_route_round round = {
            hw_route_next(&one), 1 + drawn(9), 1 + drawn(50 * US), 1,       (int)drawn(101) - 1,
            drawn(MS),           drawn(MS),    drawn(10 * MS),     drawn(9)};
        assert_int_equal(hw_route_learn(&one, &round), hw_route_learn(&other, &round));
        assert_int_equal(hw_route_next(&one), hw_route_next(&other));
    }
}

static void classes_are_apart(void **state)
{
    (void)state;
    bool seen[HW_ROUTE_CLASSES] = {false};
    for (enum hw_route_kind kind = 0; kind < HW_ROUTE_KINDS; kind++)
        for (int shape = 0; shape < 2; shape++)
            for (unsigned size = 0; size < HW_ROUTE_SIZES; size++) {
                unsigned class = hw_route_class(kind, shape == 0, UINT64_C(1) << size);
                assert_in_range(class, 0, HW_ROUTE_CLASSES - 1);
                assert_false(seen[class]);
                seen[class] = true;
                assert_int_equal(hw_route_class(kind, shape == 0, (UINT64_C(2) << size) - 1), class);
            }
    assert_int_equal(hw_route_class(HW_ROUTE_MOVE, true, 0), hw_route_class(HW_ROUTE_MOVE, true, 1));
    assert_int_equal(hw_route_class(HW_ROUTE_MOVE, true, UINT64_MAX),
                     hw_route_class(HW_ROUTE_MOVE, true, UINT64_C(1) << 30));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_all_communicate_the_owner_is_found),
        cmocka_unit_test(where_owners_compute_the_ghost_stays),
        cmocka_unit_test(nothing_is_tried_that_the_run_cannot_afford),
        cmocka_unit_test(a_phase_is_followed_both_ways),
        cmocka_unit_test(a_phase_is_followed_without_a_share),
        cmocka_unit_test(a_short_phase_is_noticed),
        cmocka_unit_test(a_long_look_waits_for_its_price),
        cmocka_unit_test(equal_routes_are_not_changed_to_and_fro),
        cmocka_unit_test(a_round_by_the_other_route_says_nothing),
        cmocka_unit_test(what_others_decided_is_taken),
        cmocka_unit_test(the_same_rounds_give_the_same_routes),
        cmocka_unit_test(classes_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
