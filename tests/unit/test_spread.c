/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: one target, several ghosts: whose segment a place is, and who gets an operation. */
#include "engines/rma/operation/spread_choose.h"
#include "engines/rma/window/spread.h"
#include "profile/record/counters.h"
#include "real/constants.h"
#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Two nodes: a user process and two ghosts each; the window's ghosts are its ranks 0 to 3. The calling
 * process is on the other node. */
enum { NODES = 2, GHOSTS = 4, TARGET_NODE = 0, OWN_RANK = 3, NODE_BYTES = 5 * HW_RMA_ALIGNMENT };

static struct hw_world_process processes[] = {
    {.node = 0}, {.node = 0, .user_rank = -1}, {.node = 0, .user_rank = -1},
    {.node = 1}, {.node = 1, .user_rank = -1}, {.node = 1, .user_rank = -1}};
static int ghosts[GHOSTS] = {1, 2, 4, 5};
static MPI_Aint node_bytes[NODES] = {NODE_BYTES, NODE_BYTES};
static struct hw_rma_window window;
static struct hw_rma_target target;

static int extent_of_ints(MPI_Datatype type, MPI_Count *lb, MPI_Count *extent)
{
    (void)type;
    *lb = 0;
    *extent = sizeof(int);
    return MPI_SUCCESS;
}

static void begin(enum hw_option_ghost_binding binding, enum hw_option_ghost_balance balance)
{
    hw_world.processes = processes;
    hw_world.node_count = NODES;
    hw_world.rank = OWN_RANK;
    hw_options.ghost_balance = balance;
    hw_bottom.Type_get_extent_x = hw_bottom.Type_get_true_extent_x = extent_of_ints;
    static struct hw_rma_sent sent[GHOSTS];
    memset(sent, 0, sizeof sent);
    window = (struct hw_rma_window){.ghost_count = GHOSTS, .ghosts = ghosts, .sent = sent, .generation = 1};
    target = (struct hw_rma_target){.node = TARGET_NODE, .ghost = 1};
    assert_true(hw_rma_spread_make(&window, binding, node_bytes));
}

static int choose(enum hw_rma_class class, MPI_Aint disp, MPI_Count count)
{
    struct hw_rma_shape shape = {.class = class, .count = count, .datatype = HW_INT};
    return hw_rma_spread_choose(&window, &target, disp, &shape);
}

static void nothing_without_options(void **state)
{
    (void)state;
    begin(HW_OPTION_GHOST_BINDING_RANK, HW_OPTION_GHOST_BALANCE_OFF);
    assert_null(window.spread);
    hw_rma_spread_free(&window);
    /* Nor where no node has several. */
    begin(HW_OPTION_GHOST_BINDING_RANK, HW_OPTION_GHOST_BALANCE_OFF);
    window.ghost_count = 1;
    assert_true(hw_rma_spread_make(&window, HW_OPTION_GHOST_BINDING_SEGMENT, node_bytes));
    assert_null(window.spread);
}

static void segments_are_whole_pages(void **state)
{
    (void)state;
    begin(HW_OPTION_GHOST_BINDING_SEGMENT, HW_OPTION_GHOST_BALANCE_OFF);
    const struct hw_rma_span *span = hw_rma_spread_span(&window, &target);
    assert_int_equal(span->first, 0);
    assert_int_equal(span->count, 2);
    assert_int_equal(span->segment_bytes, 3 * HW_RMA_ALIGNMENT);
    assert_int_equal(hw_rma_span_ghost(span, -8), 0);
    assert_int_equal(hw_rma_span_ghost(span, 0), 0);
    assert_int_equal(hw_rma_span_ghost(span, span->segment_bytes - 1), 0);
    assert_int_equal(hw_rma_span_ghost(span, span->segment_bytes), 1);
    assert_int_equal(hw_rma_span_ghost(span, NODE_BYTES), 1);
    assert_int_equal(hw_rma_span_ghost(span, 100 * NODE_BYTES), 1);
    assert_int_equal(window.spread->spans[1].first, 2);
    hw_rma_spread_free(&window);
    assert_null(window.spread);
}

/* To one place always by one ghost, and what lies in two segments is made in pieces. */
static void accumulates_go_to_the_segment(void **state)
{
    (void)state;
    begin(HW_OPTION_GHOST_BINDING_SEGMENT, HW_OPTION_GHOST_BALANCE_RANDOM);
    MPI_Aint border = hw_rma_spread_span(&window, &target)->segment_bytes;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(choose(HW_RMA_ACCUMULATE, 0, 4), 0);
        assert_int_equal(choose(HW_RMA_ACCUMULATE, border, 4), 1);
        assert_int_equal(choose(HW_RMA_ACCUMULATE, border - 16, 4), 0);
        assert_int_equal(choose(HW_RMA_ACCUMULATE, border - 16, 5), HW_RMA_SEVERAL);
    }
    /* Of nothing: where it begins. */
    assert_int_equal(choose(HW_RMA_ACCUMULATE, border, 0), 1);
    hw_rma_spread_free(&window);
}

static void accumulates_bound_to_a_rank_stay_there(void **state)
{
    (void)state;
    begin(HW_OPTION_GHOST_BINDING_RANK, HW_OPTION_GHOST_BALANCE_RANDOM);
    for (int i = 0; i < 20; i++)
        assert_int_equal(choose(HW_RMA_ACCUMULATE, (MPI_Aint)i * HW_RMA_ALIGNMENT, 4), target.ghost);
    hw_rma_spread_free(&window);
}

static void puts_are_balanced(enum hw_option_ghost_balance balance, int small, int large, int expected_small)
{
    int counts[GHOSTS] = {0};
    begin(HW_OPTION_GHOST_BINDING_RANK, balance);
    uint64_t spread_before = atomic_load(&hw_counters.operations_spread);
    choose(HW_RMA_PUT, 0, large);
    for (int i = 0; i < 10; i++)
        counts[choose(HW_RMA_GET, 0, small)]++;
    assert_int_equal(counts[2] + counts[3], 0); /* of another node */
    if (expected_small >= 0)
        assert_int_equal(counts[0], expected_small);
    else
        assert_true(counts[0] > 0 && counts[1] > 0);
    assert_true(atomic_load(&hw_counters.operations_spread) > spread_before);
    for (int ghost = 0; ghost < 2; ghost++)
        assert_int_equal(atomic_load(&window.sent[ghost].dirty), 1);
    hw_rma_spread_free(&window);
}

static void puts_go_to_any_ghost_of_the_node(void **state)
{
    (void)state;
    puts_are_balanced(HW_OPTION_GHOST_BALANCE_OPERATIONS, 1, 1, 5);
    /* The first, large, went to the target's own; the small ones do not weigh as much together. */
    puts_are_balanced(HW_OPTION_GHOST_BALANCE_BYTES, 1, 1000, 10);
    puts_are_balanced(HW_OPTION_GHOST_BALANCE_RANDOM, 1, 1, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_without_options),
        cmocka_unit_test(segments_are_whole_pages),
        cmocka_unit_test(accumulates_go_to_the_segment),
        cmocka_unit_test(accumulates_bound_to_a_rank_stay_there),
        cmocka_unit_test(puts_go_to_any_ghost_of_the_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
