/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: with which route a window begins, where members change it together, and what keeps them from
 * it. */
#include "base/options.h"
#include "engines/rma/adapt/adapt.h"
#include "engines/rma/adapt/told.h"
#include "engines/rma/window/adapting.h"
#include "engines/rma/window/agree.h"
#include "engines/rma/window/plan.h"
#include "engines/rma/window/wish.h"
#include "profile/record/counters.h"
#include "real/table.h"
#include "world/world.h"
#include "written.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A user process on each of two nodes, and a ghost on each. */
enum { USERS = 2, GHOSTS = 2, OWN = 0, OTHER = 1, WORDS = 5 };
/* More processes than any machine has cores that cpu_set_t names. */
enum { CROWD = 2048 };

static struct hw_world_process processes[] = {{.node = 0, .user_rank = 0},
                                              {.node = 0, .user_rank = -1},
                                              {.node = 1, .user_rank = 1},
                                              {.node = 1, .user_rank = -1}};
static struct hw_world_node nodes[] = {{.process_count = 2, .ghost_count = 1},
                                       {.process_count = 2, .ghost_count = 1}};
static pid_t pids[CROWD]; /* of the node's processes: all are this one */
static struct hw_rma_target targets[USERS];
static struct hw_rma_offer offers[USERS];
static struct hw_rma_window window;
static struct hw_rma_plan plan;
static uint64_t others[WORDS]; /* of the other member, added to what this one says */
static const char *info_value; /* of each key; NULL: it is missing */

static int allreduce(const void *own, void *all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    (void)type, (void)op, (void)comm;
    assert_int_equal(count % WORDS, 0);
    for (int i = 0; i < count; i++) {
        uint64_t mine = ((const uint64_t *)own)[i];
        ((uint64_t *)all)[i] = mine + (i % WORDS == 0 ? mine : others[i % WORDS]);
    }
    return MPI_SUCCESS;
}

static int info_get(MPI_Info info, const char *key, int length, char *value, int *flag)
{
    (void)info, (void)key;
    *flag = info_value != NULL;
    snprintf(value, (size_t)length + 1, "%s", info_value ? info_value : "");
    return MPI_SUCCESS;
}

static int begin(void **state)
{
    (void)state;
    hw_real_pretend_loaded();
    hw_bottom.Allreduce = allreduce;
    hw_bottom.Info_get = info_get;
    for (int i = 0; i < CROWD; i++)
        pids[i] = getpid();
    nodes[0].process_count = 2;
    hw_world.node_pids = pids;
    hw_world.processes = processes;
    hw_world.own_node = nodes;
    hw_world.node_count = 2;
    hw_world.user_count = USERS;
    hw_options = hw_options_default;
    hw_rma_adapting = NULL;
    info_value = NULL;
    memset(others, 0, sizeof others);
    others[3] = UINT64_C(1) << 32; /* it is at the same call, with nothing outstanding */
    return 0;
}

/* The window, made by members that have OFFERED. */
static void make(struct hw_rma_offer own, struct hw_rma_offer other)
{
    static MPI_Comm some = MPI_COMM_SELF;
    offers[OWN] = own;
    offers[OTHER] = other;
    memset(targets, 0, sizeof targets);
    for (int i = 0; i < USERS; i++)
        targets[i].process = 2 * i;
    window = (struct hw_rma_window){.size = USERS,
                                    .rank = OWN,
                                    .ghost_count = GHOSTS,
                                    .targets = targets,
                                    .users = some,
                                    .generation = 7};
    plan = (struct hw_rma_plan){
        .size = USERS, .rank = OWN, .offers = offers, .may_use_owner = true, .changes_at_barriers = true};
    hw_rma_route_place(&window, &plan);
}

static void make_as(enum hw_option_adapt adapt)
{
    hw_options.adapt = adapt;
    make((struct hw_rma_offer){.adapt = (int32_t)adapt}, (struct hw_rma_offer){0});
}

static enum hw_rma_route accumulates(void)
{
    return (enum hw_rma_route)hw_atomic_load_relaxed(&window.routes.accumulate);
}

static enum hw_rma_route puts_of(int rank)
{
    return (enum hw_rma_route)hw_atomic_load_relaxed(&targets[rank].route);
}

static void keys_have_their_values(void **state)
{
    (void)state;
    assert_int_equal(hw_rma_wish_read(HW_INFO_NULL), HW_RMA_WISH_NONE);
    const char *const words[] = {"ON", "off", "Auto", "maybe", NULL};
    const enum hw_rma_wish wishes[] = {HW_RMA_WISH_ON, HW_RMA_WISH_OFF, HW_RMA_WISH_AUTO, HW_RMA_WISH_NONE,
                                       HW_RMA_WISH_NONE};
    MPI_Info some = MPI_INFO_ENV;
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++) {
        info_value = words[i];
        assert_int_equal(hw_rma_wish_read(some), wishes[i]);
    }
    const char *const truths[] = {"true", "false", "perhaps"};
    for (int i = 0; i < 3; i++) {
        info_value = truths[i];
        assert_int_equal(hw_rma_wish_is_symmetric(some), i == 0);
    }
}

static void options_decide_who_may_be_an_owner(void **state)
{
    (void)state;
    assert_true(hw_rma_route_may_use_owner());
    assert_false(hw_rma_route_changes_at_barriers()); /* guided: the program says it */
    hw_options.adapt = HW_OPTION_ADAPT_GLOBAL;
    assert_true(hw_rma_route_changes_at_barriers());
    hw_options.ghost_balance = HW_OPTION_GHOST_BALANCE_RANDOM;
    assert_false(hw_rma_route_may_use_owner());
    hw_options = hw_options_default;
    hw_options.adapt = HW_OPTION_ADAPT_OFF;
    assert_false(hw_rma_route_may_use_owner());
    assert_false(hw_rma_route_begins_by_owner());
}

static void a_window_begins_as_its_first_member_wishes(void **state)
{
    (void)state;
    make((struct hw_rma_offer){.wish = HW_RMA_WISH_OFF}, (struct hw_rma_offer){.wish = HW_RMA_WISH_ON});
    assert_int_equal(accumulates(), HW_RMA_ROUTE_OWNER);
    assert_int_equal(puts_of(OTHER), HW_RMA_ROUTE_OWNER);
    assert_int_equal(targets[OTHER].owner.rank, GHOSTS + OTHER);
    hw_rma_route_end(&window);
    make((struct hw_rma_offer){.wish = HW_RMA_WISH_ON, .begins_by_owner = 1}, (struct hw_rma_offer){0});
    assert_int_equal(accumulates(), HW_RMA_ROUTE_GHOST);
    make((struct hw_rma_offer){.begins_by_owner = 1}, (struct hw_rma_offer){0});
    assert_int_equal(accumulates(), HW_RMA_ROUTE_OWNER);
}

/* Of all members, and before what the first would have. */
static void a_window_begins_as_others_have_shown(void **state)
{
    (void)state;
    make((struct hw_rma_offer){.begins_by_owner = 1, .foreseen_ns = -50},
         (struct hw_rma_offer){.foreseen_ns = 300});
    assert_int_equal(accumulates(), HW_RMA_ROUTE_GHOST);
    make((struct hw_rma_offer){.foreseen_ns = 50}, (struct hw_rma_offer){.foreseen_ns = -300});
    assert_int_equal(accumulates(), HW_RMA_ROUTE_OWNER);
    make((struct hw_rma_offer){.wish = HW_RMA_WISH_ON, .foreseen_ns = -1}, (struct hw_rma_offer){0});
    assert_int_equal(accumulates(), HW_RMA_ROUTE_GHOST);
}

static void members_agree_on_what_the_program_says(void **state)
{
    (void)state;
    make_as(HW_OPTION_ADAPT_GUIDED);
    uint64_t changed = atomic_load(&hw_counters.routes_changed);
    window.routes.next_wish = HW_RMA_WISH_OFF;
    others[2] = UINT64_C(1) << 21; /* the other one as well */
    assert_int_equal(hw_rma_agree(&window, true), MPI_SUCCESS);
    assert_int_equal(accumulates(), HW_RMA_ROUTE_OWNER);
    assert_int_equal(puts_of(OTHER), HW_RMA_ROUTE_OWNER);
    assert_int_equal(window.routes.next_wish, HW_RMA_WISH_NONE);
    assert_int_equal(atomic_load(&hw_counters.routes_changed), changed + 1);
    window.routes.next_wish = HW_RMA_WISH_ON;
    others[2] = 1;
    struct hw_rma_window *all[] = {&window};
    bool is_changed = false;
    assert_int_equal(hw_rma_agree_several(all, 1, 8, &is_changed), MPI_SUCCESS);
    assert_int_equal(accumulates(), HW_RMA_ROUTE_GHOST);
    assert_true(is_changed);
    others[2] = 0;
    assert_int_equal(hw_rma_agree_several(all, 1, 1, &is_changed), MPI_SUCCESS);
    assert_false(is_changed);
    hw_rma_route_end(&window);
}

/* Something is outstanding here or there, or not all are at this point. */
static void nothing_changes_before_all_are_through(void **state)
{
    (void)state;
    make_as(HW_OPTION_ADAPT_GUIDED);
    window.routes.next_wish = HW_RMA_WISH_OFF;
    others[3] += 1;
    hw_rma_agree(&window, true);
    assert_int_equal(accumulates(), HW_RMA_ROUTE_GHOST);
    others[3] = 0;
    hw_rma_agree(&window, true);
    assert_int_equal(accumulates(), HW_RMA_ROUTE_GHOST);
    others[3] = UINT64_C(1) << 32;
    window.has_ops = 1;
    targets[OTHER].dirty = window.generation;
    hw_rma_agree(&window, true);
    assert_int_equal(accumulates(), HW_RMA_ROUTE_GHOST);
    assert_int_equal(window.routes.next_wish, HW_RMA_WISH_OFF); /* it is kept for the next meeting */
    targets[OTHER].dirty = window.generation - 1;
    hw_rma_agree(&window, true);
    assert_int_equal(accumulates(), HW_RMA_ROUTE_OWNER);
    hw_rma_route_end(&window);
}

static void what_members_save_in_sum_decides(void **state)
{
    (void)state;
    hw_options.adapt = HW_OPTION_ADAPT_LOCAL;
    hw_rma_adapt_open();
    make_as(HW_OPTION_ADAPT_LOCAL);
    assert_non_null(window.adapt);
    others[4] = (uint64_t)-5000;
    hw_rma_agree(&window, true);
    assert_int_equal(accumulates(), HW_RMA_ROUTE_OWNER);
    assert_int_equal(puts_of(OTHER), HW_RMA_ROUTE_OWNER); /* local: theirs, too */
    others[4] = 0;
    hw_rma_agree(&window, true);
    assert_int_equal(accumulates(), HW_RMA_ROUTE_OWNER);
    struct hw_record_facts facts = {0};
    hw_rma_told_describe(&facts);
    assert_non_null(facts.routes.write);
    char *text = written_by(facts.routes.write);
    assert_non_null(strstr(text, "accumulates"));
    assert_non_null(strstr(text, "\"owner\""));
    free(text);
    hw_rma_route_end(&window);
    assert_null(window.adapt);
}

/* So many rounds of SIZE bytes. */
static void operate(enum hw_route_kind kind, int rounds, int size)
{
    for (int i = 0; i < rounds; i++) {
        hw_rma_adapt_begin(&window, kind, OTHER, size, MPI_BYTE);
        hw_rma_adapt_end(&window);
        hw_rma_adapt_flush_begin(&window);
        hw_rma_adapt_flush_end(&window);
    }
}

static void only_some_rounds_are_measured(void **state)
{
    (void)state;
    hw_options.adapt = HW_OPTION_ADAPT_AUTO;
    hw_rma_adapt_open();
    make_as(HW_OPTION_ADAPT_AUTO);
    assert_true(hw_rma_adapt_measures(&window));
    assert_int_equal(window.is_watched, 1);
    operate(HW_ROUTE_MOVE, 1000, 64);
    unsigned class = hw_route_class(HW_ROUTE_MOVE, true, 64);
    assert_non_null(window.adapt->classes[class]);
    assert_in_range(window.adapt->timed_count, 1, 999);
    assert_true(window.adapt->classes[class]->route.timed > 0);
    assert_int_equal(window.adapt->measured.operations, 0);
    operate(HW_ROUTE_ACCUMULATE, 1000, 64);
    assert_true(window.adapt->measured.operations > 0);
    assert_true(window.adapt->measured.ns[window.adapt->first_way] > 0);
    assert_true(window.adapt->flushed_rounds > 1000);
    hw_rma_measure_agreed(&window, false, 1);
    assert_int_equal(window.adapt->flushed_rounds, 0);
    assert_true(window.adapt->agreed_rounds > 1000);
    operate(HW_ROUTE_ACCUMULATE, 1000, 64);
    hw_rma_measure_agreed(&window, false, 8); /* as many rounds, but the next meeting comes sooner */
    assert_in_range(window.adapt->agreed_rounds, 125, 126);
    hw_rma_route_end(&window);
}

/* Put and Get lead accumulates to owners, but not to such as share their cores. */
static void owners_that_wait_for_a_core_need_a_look(void **state)
{
    (void)state;
    for (int is_crowd = 0; is_crowd < 2; is_crowd++) {
        hw_options.adapt = HW_OPTION_ADAPT_AUTO;
        hw_rma_adapt_open();
        nodes[0].process_count = is_crowd ? CROWD : 2;
        make_as(HW_OPTION_ADAPT_AUTO);
        assert_int_equal(hw_rma_measure_turn_ns() > 0, is_crowd);
        operate(HW_ROUTE_MOVE, 10, 64);
        struct hw_route *route = &window.adapt->classes[hw_route_class(HW_ROUTE_MOVE, true, 64)]->route;
        for (int i = 0; i < HW_ROUTE_SAMPLES; i++) {
            route->by[HW_ROUTE_GHOST].ns[i] = 900;
            route->by[HW_ROUTE_OWNER].ns[i] = 400;
        }
        route->by[HW_ROUTE_GHOST].count = route->by[HW_ROUTE_OWNER].count = HW_ROUTE_SAMPLES;
        route->looks = 1;
        assert_int_equal(hw_rma_measure_moves_gain_ns(window.adapt), -500);
        window.rank = OTHER; /* the first alone begins looks */
        window.adapt->measured.ns[HW_ROUTE_GHOST] = window.adapt->measured.ns[HW_ROUTE_OWNER] = 0;
        window.adapt->measured.operations = 3;
        assert_int_equal(hw_rma_adapting->propose(&window), is_crowd ? 0 : -1500);
        hw_rma_route_end(&window);
    }
}

/* The round before a change is no round of the new route, and the first after it are timed. */
static void a_round_counts_for_the_route_it_took(void **state)
{
    (void)state;
    enum hw_route_way before, after;
    hw_options.adapt = HW_OPTION_ADAPT_AUTO;
    hw_rma_adapt_open();
    make_as(HW_OPTION_ADAPT_AUTO);
    struct hw_rma_measured_accumulates *measured = &window.adapt->measured;
    before = window.adapt->first_way;
    after = before == HW_ROUTE_GHOST ? HW_ROUTE_OWNER : HW_ROUTE_GHOST;
    operate(HW_ROUTE_ACCUMULATE, 1000, 64);
    hw_rma_measure_start(&window);
    operate(HW_ROUTE_ACCUMULATE, 1, 64);
    assert_true(window.adapt->round.is_flushed); /* it is open: the next operation closes it */
    others[4] = (uint64_t)(before == HW_ROUTE_GHOST ? -(INT64_C(1) << 50) : INT64_C(1) << 50);
    hw_rma_agree(&window, true);
    assert_int_equal(accumulates(), before == HW_ROUTE_GHOST ? HW_RMA_ROUTE_OWNER : HW_RMA_ROUTE_GHOST);
    uint64_t known = measured->ns[before];
    operate(HW_ROUTE_ACCUMULATE, 1, 64);
    assert_int_equal(measured->rounds, 0);
    assert_int_equal(measured->ns[after], 0);
    operate(HW_ROUTE_ACCUMULATE, 1, 64);
    assert_int_equal(measured->rounds, 1);
    assert_true(measured->ns[after] > 0);
    operate(HW_ROUTE_ACCUMULATE, 2, 64);
    assert_int_equal(measured->rounds, 3);
    assert_int_equal(measured->ns[before], known);
    hw_rma_route_end(&window);
}

/* Nothing is proposed as long as one route alone was tried, and nothing is told of to a new window. */
static void nothing_is_foreseen_from_one_route(void **state)
{
    (void)state;
    hw_options.adapt = HW_OPTION_ADAPT_AUTO;
    hw_rma_adapt_open();
    make_as(HW_OPTION_ADAPT_AUTO);
    operate(HW_ROUTE_ACCUMULATE, 10, 8);
    window.rank = OTHER; /* the first alone begins looks */
    assert_int_equal(hw_rma_adapting->propose(&window), 0);
    assert_int_equal(hw_rma_measure_shown_ns(false), 0);
    assert_int_equal(hw_rma_route_foreseen_ns(), 0);
    struct hw_rma_measured_accumulates *measured = &window.adapt->measured;
    measured->ns[!window.adapt->first_way] = UINT64_C(1) << 40;
    measured->rounds = 0; /* what is known of the other route is not doubted yet */
    hw_rma_measure_start(&window);
    operate(HW_ROUTE_ACCUMULATE, 3, 8);
    int64_t shown = hw_rma_measure_shown_ns(false);
    assert_true(window.adapt->first_way == HW_ROUTE_GHOST ? shown > 0 : shown < 0);
    int64_t foreseen = hw_rma_route_foreseen_ns();
    assert_true(shown > 0 ? foreseen == INT64_C(1) << 32 : foreseen == -(INT64_C(1) << 32));
    assert_true((hw_rma_adapting->propose(&window) > 0) == (shown > 0));
    hw_rma_route_end(&window);
    hw_options.adapt = HW_OPTION_ADAPT_LOCAL;
    assert_int_equal(hw_rma_route_foreseen_ns(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(keys_have_their_values, begin),
        cmocka_unit_test_setup(options_decide_who_may_be_an_owner, begin),
        cmocka_unit_test_setup(a_window_begins_as_its_first_member_wishes, begin),
        cmocka_unit_test_setup(a_window_begins_as_others_have_shown, begin),
        cmocka_unit_test_setup(members_agree_on_what_the_program_says, begin),
        cmocka_unit_test_setup(nothing_changes_before_all_are_through, begin),
        cmocka_unit_test_setup(what_members_save_in_sum_decides, begin),
        cmocka_unit_test_setup(nothing_is_foreseen_from_one_route, begin), /* before others know something */
        cmocka_unit_test_setup(only_some_rounds_are_measured, begin),
        cmocka_unit_test_setup(a_round_counts_for_the_route_it_took, begin),
        cmocka_unit_test_setup(owners_that_wait_for_a_core_need_a_look, begin),
    };
    return cmocka_run_group_tests_name("window_routes", tests, NULL, NULL);
}
