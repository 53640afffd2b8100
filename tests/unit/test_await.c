/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a ghost of this node is told that it is awaited in calls that ask it several times, and in no
 * others. */
#include "engines/rma/epoch/lock.h"
#include "engines/rma/operation/calls.h"
#include "engines/rma/window/facts.h"
#include "engines/rma/window/table.h"
#include "ghost/bell.h"
#include "real/constants.h"
#include "real/table.h"
#include "world/world.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A ghost of this node, one of another; the window's owners come behind them. */
enum { USERS = 2, GHOSTS = 2, NEAR = 0, FAR = 1 };

static struct hw_ghost_bell bell;
static struct hw_rma_target targets[USERS];
static struct hw_rma_window window;
static struct hw_world_process processes[] = {{.node = 0}, {.node = 0}, {.node = 1}, {.node = 1}};
static struct hw_world_node nodes[] = {{.process_count = 2, .ghost_count = 1},
                                       {.process_count = 2, .ghost_count = 1}};
static double here;
static MPI_Request request;

/* In the last real call: for how many the ghost was waited, and at which rank it arrived. */
static int waiting, asked;

static int look(int rank)
{
    waiting = (int)hw_atomic_load_relaxed(&bell.waiting);
    asked = rank;
    return MPI_SUCCESS;
}

static int fake_put(const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint disp,
                    int target_count, MPI_Datatype target_type, MPI_Win win)
{
    (void)origin, (void)count, (void)type, (void)disp, (void)target_count, (void)target_type, (void)win;
    return look(rank);
}

static int fake_accumulate(const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint disp,
                           int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win)
{
    (void)op;
    return fake_put(origin, count, type, rank, disp, target_count, target_type, win);
}

static int fake_raccumulate(const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint disp,
                            int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                            MPI_Request *made)
{
    (void)made, (void)op;
    return fake_put(origin, count, type, rank, disp, target_count, target_type, win);
}

static int fake_get_accumulate(const void *origin, int count, MPI_Datatype type, void *result,
                               int result_count, MPI_Datatype result_type, int rank, MPI_Aint disp,
                               int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win)
{
    (void)result, (void)result_count, (void)result_type, (void)op;
    return fake_put(origin, count, type, rank, disp, target_count, target_type, win);
}

static int fake_rget_accumulate(const void *origin, int count, MPI_Datatype type, void *result,
                                int result_count, MPI_Datatype result_type, int rank, MPI_Aint disp,
                                int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                                MPI_Request *made)
{
    (void)made, (void)result, (void)result_count, (void)result_type, (void)op;
    return fake_put(origin, count, type, rank, disp, target_count, target_type, win);
}

static int fake_fetch_and_op(const void *origin, void *result, MPI_Datatype type, int rank, MPI_Aint disp,
                             MPI_Op op, MPI_Win win)
{
    (void)origin, (void)result, (void)type, (void)disp, (void)op, (void)win;
    return look(rank);
}

static int fake_compare_and_swap(const void *origin, const void *compare, void *result, MPI_Datatype type,
                                 int rank, MPI_Aint disp, MPI_Win win)
{
    (void)origin, (void)compare, (void)result, (void)type, (void)disp, (void)win;
    return look(rank);
}

static int open_window(void **state)
{
    (void)state;
    hw_real_pretend_loaded();
    hw_world = (struct hw_world){
        .processes = processes, .nodes = nodes, .own_node = nodes, .node_count = 2, .user_count = USERS};
    hw_real.Put = fake_put;
    hw_real.Accumulate = fake_accumulate;
    hw_real.Raccumulate = fake_raccumulate;
    hw_real.Get_accumulate = fake_get_accumulate;
    hw_real.Rget_accumulate = fake_rget_accumulate;
    hw_real.Fetch_and_op = fake_fetch_and_op;
    hw_real.Compare_and_swap = fake_compare_and_swap;
    targets[NEAR].bell = &bell;
    targets[NEAR].ghost = NEAR;
    targets[FAR].ghost = FAR;
    for (int i = 0; i < USERS; i++)
        targets[i].owner.rank = GHOSTS + i;
    window = (struct hw_rma_window){
        .size = USERS, .ghost_count = GHOSTS, .targets = targets, .generation = 1, .is_open = 1};
    static struct hw_rma_sent sent[GHOSTS];
    window.sent = sent;
    memset(&window.win, 0x11, sizeof window.win);
    window.handle = window.win;
    pthread_mutex_init(&window.mutex, NULL);
    return hw_rma_table_open() == HW_OK && hw_rma_window_enter(&window) ? 0 : -1;
}

static int close_window(void **state)
{
    (void)state;
    hw_rma_window_leave(&window);
    struct hw_rma_windows *windows = hw_atomic_load_acquire(&hw_rma_windows);
    hw_rma_table_close();
    free(windows); /* the library keeps it: a late reader may hold it */
    pthread_mutex_destroy(&window.mutex);
    return 0;
}

static int begin(void **state)
{
    (void)state;
    hw_rma_accumulates_wait = true;
    hw_atomic_store_relaxed(&window.routes.accumulate, HW_RMA_ROUTE_GHOST);
    waiting = asked = -1;
    return 0;
}

/* Each call that changes or fetches an element at RANK finds the ghost of ASKED_RANK awaited for EXPECTED. */
static void assert_waiting(int rank, int asked_rank, int expected)
{
    const struct hw_engine_rma *calls = &hw_rma_operation_calls;
    const MPI_Datatype type = HW_BYTE;
    const MPI_Op op = HW_NO_OP;
    const MPI_Win win = window.handle;
    for (int i = 0; i < 6; i++) {
        int rc = MPI_ERR_OTHER;
        waiting = asked = -1;
        if (i == 0)
            rc = calls->accumulate(&here, 1, type, rank, 0, 1, type, op, win);
        else if (i == 1)
            rc = calls->get_accumulate(&here, 1, type, &here, 1, type, rank, 0, 1, type, op, win);
        else if (i == 2)
            rc = calls->fetch_and_op(&here, &here, type, rank, 0, op, win);
        else if (i == 3)
            rc = calls->compare_and_swap(&here, &here, &here, type, rank, 0, win);
        else if (i == 4)
            rc = calls->raccumulate(&here, 1, type, rank, 0, 1, type, op, win, &request);
        else
            rc = calls->rget_accumulate(&here, 1, type, &here, 1, type, rank, 0, 1, type, op, win, &request);
        assert_int_equal(rc, MPI_SUCCESS);
        assert_int_equal(asked, asked_rank);
        assert_int_equal(waiting, expected);
        assert_int_equal(hw_atomic_load_relaxed(&bell.waiting), 0);
    }
}

static void ghost_is_awaited_while_it_is_asked(void **state)
{
    (void)state;
    assert_waiting(NEAR, NEAR, 1);
}

static void calls_that_only_post_let_it_sleep(void **state)
{
    (void)state;
    const MPI_Datatype type = HW_BYTE;
    assert_int_equal(hw_rma_operation_calls.put(&here, 1, type, NEAR, 0, 1, type, window.handle),
                     MPI_SUCCESS);
    assert_int_equal(asked, NEAR);
    assert_int_equal(waiting, 0);
    hw_rma_accumulates_wait = false;
    assert_waiting(NEAR, NEAR, 0);
}

static void only_a_ghost_of_this_node_has_a_bell(void **state)
{
    (void)state;
    assert_waiting(FAR, FAR, 0);
    hw_atomic_store_relaxed(&window.routes.accumulate, HW_RMA_ROUTE_OWNER);
    assert_waiting(NEAR, GHOSTS + NEAR, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(ghost_is_awaited_while_it_is_asked, begin),
        cmocka_unit_test_setup(calls_that_only_post_let_it_sleep, begin),
        cmocka_unit_test_setup(only_a_ghost_of_this_node_has_a_bell, begin),
    };
    return cmocka_run_group_tests(tests, open_window, close_window);
}
