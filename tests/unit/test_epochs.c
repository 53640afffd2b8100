/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: epochs of a redirected window of which a step fails leave nothing open and nothing posted, and
 * threads that lock targets of their own leave the right count. */
#include "engines/rma/epoch/access.h"
#include "engines/rma/epoch/epoch.h"
#include "engines/rma/window/epoch_type.h"
#include "fake_group.h"
#include "ghost/channel.h"
#include "world/world.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* User processes 0 to 3 on one node; their ghost, 4, on another, where no bell is. This process is the first.
 */
enum { USERS = 4, GHOST = USERS, WORLD = USERS + 1, NEVER = 1000 };

static const int others[USERS - 1] = {1, 2, 3}; /* all but this process */
static struct hw_world_process processes[WORLD];
static struct hw_world_node nodes[2] = {{.process_count = USERS}, {.process_count = 1, .ghost_count = 1}};
static struct hw_rma_target targets[USERS];
static struct hw_rma_sent sent[1];
static struct hw_rma_window window;
static MPI_Group group; /* of the others */

/* Calls of each kind since the test began; the one of this number fails. */
static struct {
    int count, fails_at;
} sends, irecvs, isends, recvs, syncs, flushes, barriers;
static int raised, cancelled, freed, waited;

#define FAILS(calls) ((calls).count++ == (calls).fails_at)

static int fake_send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    (void)buffer, (void)count, (void)type, (void)to, (void)tag, (void)comm;
    return FAILS(sends) ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int fake_recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                     MPI_Status *status)
{
    (void)buffer, (void)count, (void)type, (void)from, (void)tag, (void)comm, (void)status;
    return FAILS(recvs) ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int fake_isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                      MPI_Request *request)
{
    (void)buffer, (void)count, (void)type, (void)to, (void)tag, (void)comm;
    memset(request, 0x11, sizeof *request);
    return FAILS(isends) ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* What fails leaves something behind, as an MPI may. */
static int fake_irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                      MPI_Request *request)
{
    (void)buffer, (void)count, (void)type, (void)tag, (void)comm;
    memset(request, 0x22 + from, sizeof *request);
    return FAILS(irecvs) ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int fake_cancel(MPI_Request *request)
{
    assert_true(*request != HW_REQUEST_NULL);
    cancelled++;
    return MPI_SUCCESS;
}

static int fake_request_free(MPI_Request *request)
{
    freed++;
    *request = HW_REQUEST_NULL;
    return MPI_SUCCESS;
}

static int fake_wait(MPI_Request *request, MPI_Status *status)
{
    (void)status;
    waited++;
    *request = HW_REQUEST_NULL;
    return MPI_SUCCESS;
}

static int fake_waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    (void)requests, (void)statuses;
    waited += count;
    return MPI_SUCCESS;
}

static int fake_sync(MPI_Win win)
{
    (void)win;
    return FAILS(syncs) ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int fake_flush(MPI_Win win)
{
    (void)win;
    return FAILS(flushes) ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int fake_barrier(MPI_Comm comm)
{
    (void)comm;
    return FAILS(barriers) ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int fake_ibarrier(MPI_Comm comm, MPI_Request *request)
{
    memset(request, 0x11, sizeof *request);
    return fake_barrier(comm);
}

static int fake_flush_target(int rank, MPI_Win win)
{
    (void)rank;
    return fake_flush(win);
}

static int fake_call_errhandler(MPI_Win win, int code)
{
    (void)win, (void)code;
    raised++;
    return MPI_SUCCESS;
}

static int fake_iprobe(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    (void)from, (void)tag, (void)comm, (void)status;
    *flag = 0;
    return MPI_SUCCESS;
}

static int open_world(void **state)
{
    (void)state;
    static int ghost_ranks[] = {GHOST};
    for (int i = 0; i < WORLD; i++)
        processes[i] =
            (struct hw_world_process){.node = i == GHOST, .user_rank = i == GHOST ? -1 : i, .ghost = GHOST};
    hw_world.processes = processes;
    hw_world.nodes = nodes;
    hw_world.own_node = nodes;
    hw_world.node_count = 2;
    hw_world.size = WORLD;
    hw_world.user_count = USERS;
    hw_world.ghost_count = 1;
    hw_world.ghost_ranks = ghost_ranks;
    hw_bottom.Send = fake_send;
    hw_bottom.Recv = fake_recv;
    hw_bottom.Isend = fake_isend;
    hw_bottom.Irecv = fake_irecv;
    hw_bottom.Cancel = fake_cancel;
    hw_bottom.Request_free = fake_request_free;
    hw_bottom.Wait = fake_wait;
    hw_bottom.Waitall = fake_waitall;
    hw_bottom.Iprobe = fake_iprobe;
    hw_bottom.Barrier = fake_barrier;
    hw_bottom.Ibarrier = fake_ibarrier;
    fake_group_install(0, USERS - 1, others);
    memset(&group, 0x11, sizeof group);
    hw_real.Win_sync = fake_sync;
    hw_real.Win_flush_all = fake_flush;
    hw_real.Win_flush = fake_flush_target;
    hw_real.Win_call_errhandler = fake_call_errhandler;
    return hw_ghost_channel_open() == HW_OK ? 0 : -1;
}

static int begin(void **state)
{
    (void)state;
    memset(targets, 0, sizeof targets);
    for (int i = 0; i < USERS; i++) {
        targets[i].process = i;
        targets[i].ghost_in_world = GHOST;
    }
    window = (struct hw_rma_window){.targets = targets,
                                    .sent = sent,
                                    .size = USERS,
                                    .generation = 1,
                                    .start_count = -1,
                                    .post_count = -1,
                                    .epoch_types = HW_RMA_EPOCH_ANY};
    window.win = window.handle = HW_WIN_NULL;
    pthread_mutex_init(&window.mutex, NULL);
    sends.count = irecvs.count = isends.count = recvs.count = syncs.count = flushes.count = barriers.count =
        0;
    sends.fails_at = irecvs.fails_at = isends.fails_at = recvs.fails_at = syncs.fails_at = flushes.fails_at =
        barriers.fails_at = NEVER;
    raised = cancelled = freed = waited = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    pthread_mutex_destroy(&window.mutex);
    return 0;
}

static void assert_nothing_is_open(void)
{
    assert_false(hw_rma_window_has_epoch(&window));
    for (int i = 0; i < USERS; i++)
        assert_int_equal(hw_rma_access_of(&window, i), HW_RMA_ACCESS_NONE);
    assert_null(window.post_requests);
    assert_null(window.start_ranks);
}

static void lock_that_is_not_granted_is_none(void **state)
{
    (void)state;
    sends.fails_at = 0;
    assert_int_equal(hw_rma_lock(&window, MPI_LOCK_EXCLUSIVE, 2, 0), MPI_ERR_OTHER);
    assert_int_equal(raised, 1);
    assert_nothing_is_open();
    assert_int_equal(hw_rma_unlock(&window, 2), MPI_ERR_RMA_SYNC);
    assert_int_equal(hw_rma_lock(&window, MPI_LOCK_EXCLUSIVE, 2, 0), MPI_SUCCESS);
    assert_int_equal(hw_rma_access_of(&window, 2), HW_RMA_ACCESS_EXCLUSIVE);
    assert_true(hw_rma_window_has_epoch(&window));
    assert_int_equal(hw_rma_unlock(&window, 2), MPI_SUCCESS);
    assert_nothing_is_open();
}

static void lock_without_own_memory_is_given_back(void **state)
{
    (void)state;
    syncs.fails_at = 0;
    assert_int_equal(hw_rma_lock(&window, MPI_LOCK_SHARED, 0, 0), MPI_ERR_OTHER);
    assert_int_equal(sends.count, 2); /* asked for, given back */
    assert_nothing_is_open();
}

static void lock_of_all_that_is_not_granted_is_none(void **state)
{
    (void)state;
    sends.fails_at = 0;
    assert_int_equal(hw_rma_lock_all(&window, 0), MPI_ERR_OTHER);
    assert_nothing_is_open();
    assert_int_equal(hw_rma_lock_all(&window, 0), MPI_SUCCESS);
    assert_int_equal(hw_rma_flush_all(&window), MPI_SUCCESS);
    assert_int_equal(hw_rma_unlock_all(&window), MPI_SUCCESS);
    assert_nothing_is_open();
}

/* Of a window whose memory is shown: one question for all of the node. */
static void lock_of_all_that_are_shown_asks_once(void **state)
{
    (void)state;
    window.is_shown = true;
    assert_int_equal(hw_rma_lock_all(&window, 0), MPI_SUCCESS);
    assert_int_equal(sends.count, 1);
    assert_int_equal(recvs.count, 1);
    for (int i = 0; i < USERS; i++)
        assert_int_equal(hw_rma_access_of(&window, i), HW_RMA_ACCESS_LOCK_ALL);
    assert_int_equal(hw_rma_unlock_all(&window), MPI_SUCCESS);
    assert_int_equal(sends.count, 1 + USERS);
    assert_nothing_is_open();
}

/* Of each ghost, and not of what is on another node. */
static void lock_of_all_that_are_shown_asks_each_ghost(void **state)
{
    (void)state;
    window.is_shown = true;
    targets[1].node = 1;
    targets[3].ghost_in_world = 0; /* a stand-in for a second ghost */
    assert_int_equal(hw_rma_lock_all(&window, 0), MPI_SUCCESS);
    assert_int_equal(recvs.count, 2);
    assert_int_equal(hw_rma_access_of(&window, 1), HW_RMA_ACCESS_NONE);
    assert_int_equal(hw_rma_unlock_all(&window), MPI_SUCCESS);
    assert_int_equal(sends.count, 2 + 3);
    assert_nothing_is_open();
}

static void lock_of_all_that_are_shown_may_fail(void **state)
{
    (void)state;
    window.is_shown = true;
    recvs.fails_at = 0;
    assert_int_equal(hw_rma_lock_all(&window, 0), MPI_ERR_OTHER);
    assert_int_equal(raised, 1);
    assert_nothing_is_open();
}

static void failed_end_of_lock_all_leaves_no_target_open(void **state)
{
    (void)state;
    assert_int_equal(hw_rma_lock_all(&window, 0), MPI_SUCCESS);
    hw_atomic_store_relaxed(&window.has_ops, 1);
    flushes.fails_at = 0;
    assert_int_equal(hw_rma_unlock_all(&window), MPI_ERR_OTHER);
    assert_int_equal(flushes.count, 1);
    assert_nothing_is_open();
}

static void failed_end_of_lock_gives_it_back(void **state)
{
    (void)state;
    assert_int_equal(hw_rma_lock(&window, MPI_LOCK_EXCLUSIVE, 2, 0), MPI_SUCCESS);
    hw_atomic_store_relaxed(&targets[2].dirty, 1);
    flushes.fails_at = 0;
    assert_int_equal(hw_rma_unlock(&window, 2), MPI_ERR_OTHER);
    assert_int_equal(flushes.count, 1);
    assert_int_equal(sends.count, 2); /* asked for, given back */
    assert_nothing_is_open();
}

/* What is posted for a grant that nobody was asked for would take that of another lock. */
static void lock_that_cannot_be_asked_for_takes_its_receive_back(void **state)
{
    (void)state;
    struct hw_ghost_later grant;
    int rc;
    sends.fails_at = 0;
    assert_int_equal(hw_rma_lock_ask(&window, 2, &grant, &rc), HW_OK);
    assert_int_equal(rc, MPI_ERR_OTHER);
    assert_int_equal(cancelled, 1);
    assert_int_equal(waited, 1);
    irecvs.fails_at = 1;
    assert_int_equal(hw_rma_lock_ask(&window, 2, &grant, &rc), HW_OK);
    assert_int_equal(rc, MPI_ERR_OTHER);
    assert_int_equal(cancelled, 1); /* nothing was posted */
    assert_int_equal(sends.count, 1);
    assert_nothing_is_open();
}

static void post_that_fails_takes_its_receives_back(void **state)
{
    (void)state;
    irecvs.fails_at = 1;
    assert_int_equal(hw_rma_post(&window, group, 0), MPI_ERR_OTHER);
    assert_int_equal(raised, 1);
    assert_int_equal(irecvs.count, 2);
    assert_int_equal(isends.count, 0); /* nobody was told */
    assert_int_equal(cancelled, 1);
    assert_int_equal(freed, 1);
    assert_nothing_is_open();
    assert_int_equal(hw_rma_wait(&window), MPI_ERR_RMA_SYNC);
    assert_int_equal(waited, 0);
    assert_int_equal(hw_rma_post(&window, group, 0), MPI_SUCCESS);
    assert_int_equal(hw_rma_post(&window, group, 0), MPI_ERR_RMA_SYNC);
    assert_int_equal(hw_rma_wait(&window), MPI_SUCCESS);
    assert_int_equal(waited, USERS - 1);
    assert_nothing_is_open();
}

static void post_that_nobody_hears_of_is_none(void **state)
{
    (void)state;
    isends.fails_at = 0;
    assert_int_equal(hw_rma_post(&window, group, 0), MPI_ERR_OTHER);
    assert_int_equal(cancelled, USERS - 1);
    assert_nothing_is_open();
}

static void start_that_fails_opens_no_target(void **state)
{
    (void)state;
    recvs.fails_at = 1;
    assert_int_equal(hw_rma_start_access(&window, group, 0), MPI_ERR_OTHER);
    assert_nothing_is_open();
    assert_int_equal(hw_rma_start_access(&window, group, 0), MPI_SUCCESS);
    assert_int_equal(hw_rma_access_of(&window, 1), HW_RMA_ACCESS_STARTED);
    isends.fails_at = 0;
    assert_int_equal(hw_rma_complete(&window), MPI_ERR_OTHER);
    assert_nothing_is_open();
}

/* Each waits for it. */
static void failed_end_of_start_is_told_to_all_targets(void **state)
{
    (void)state;
    assert_int_equal(hw_rma_start_access(&window, group, 0), MPI_SUCCESS);
    hw_atomic_store_relaxed(&targets[1].dirty, 1);
    flushes.fails_at = 0;
    assert_int_equal(hw_rma_complete(&window), MPI_ERR_OTHER);
    assert_int_equal(flushes.count, 1);
    assert_int_equal(isends.count, USERS - 1);
    assert_nothing_is_open();
}

/* All wait for all in it. */
static void fence_that_fails_is_still_met(void **state)
{
    (void)state;
    MPI_Request barrier;
    hw_atomic_store_relaxed(&window.has_ops, 1);
    flushes.fails_at = 0;
    assert_int_equal(hw_rma_fence(&window, 0), MPI_ERR_OTHER);
    assert_int_equal(barriers.count, 1);
    flushes.fails_at = 1;
    assert_int_equal(hw_rma_fence_begin(&window, &barrier), MPI_ERR_OTHER);
    assert_int_equal(barriers.count, 2);
    assert_true(barrier != HW_REQUEST_NULL);
    barriers.fails_at = 2;
    assert_int_equal(hw_rma_fence_begin(&window, &barrier), MPI_ERR_OTHER);
    assert_true(barrier == HW_REQUEST_NULL);
    assert_int_equal(flushes.count, 3);
    assert_int_equal(hw_rma_fence(&window, MPI_MODE_NOSUCCEED), MPI_SUCCESS);
    assert_nothing_is_open();
}

/* At the window, not where the MPI would raise it for the group. */
static void null_group_is_an_error_of_the_window(void **state)
{
    (void)state;
    assert_int_equal(hw_rma_post(&window, HW_GROUP_NULL, 0), MPI_ERR_GROUP);
    assert_int_equal(raised, 1);
    assert_int_equal(hw_rma_start_access(&window, HW_GROUP_NULL, 0), MPI_ERR_GROUP);
    assert_int_equal(raised, 2);
    assert_nothing_is_open();
}

enum { ROUNDS = 2000 };

/* Each locks a target of its own; all ask whether the window has locks. */
static void *lock_often(void *argument)
{
    int rank = *(int *)argument;
    intptr_t wrong = 0;
    for (int i = 0; i < ROUNDS; i++) {
        wrong += hw_rma_lock(&window, MPI_LOCK_SHARED, rank, MPI_MODE_NOCHECK) != MPI_SUCCESS;
        wrong += hw_rma_flush_all(&window) != MPI_SUCCESS;
        wrong += hw_rma_lock_all(&window, 0) != MPI_ERR_RMA_SYNC;
        wrong += hw_rma_unlock(&window, rank) != MPI_SUCCESS;
    }
    return (void *)wrong;
}

static int quiet_call_errhandler(MPI_Win win, int code)
{
    (void)win, (void)code;
    return MPI_SUCCESS;
}

static void threads_lock_targets_of_their_own(void **state)
{
    (void)state;
    pthread_t threads[USERS - 1];
    int ranks[USERS - 1];
    hw_real.Win_call_errhandler = quiet_call_errhandler;
    for (int i = 0; i < USERS - 1; i++) {
        ranks[i] = i + 1;
        assert_int_equal(pthread_create(&threads[i], NULL, lock_often, &ranks[i]), 0);
    }
    for (int i = 0; i < USERS - 1; i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    hw_real.Win_call_errhandler = fake_call_errhandler;
    assert_nothing_is_open();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lock_that_is_not_granted_is_none, begin, end),
        cmocka_unit_test_setup_teardown(lock_without_own_memory_is_given_back, begin, end),
        cmocka_unit_test_setup_teardown(lock_of_all_that_is_not_granted_is_none, begin, end),
        cmocka_unit_test_setup_teardown(lock_of_all_that_are_shown_asks_once, begin, end),
        cmocka_unit_test_setup_teardown(lock_of_all_that_are_shown_asks_each_ghost, begin, end),
        cmocka_unit_test_setup_teardown(lock_of_all_that_are_shown_may_fail, begin, end),
        cmocka_unit_test_setup_teardown(failed_end_of_lock_all_leaves_no_target_open, begin, end),
        cmocka_unit_test_setup_teardown(failed_end_of_lock_gives_it_back, begin, end),
        cmocka_unit_test_setup_teardown(lock_that_cannot_be_asked_for_takes_its_receive_back, begin, end),
        cmocka_unit_test_setup_teardown(post_that_fails_takes_its_receives_back, begin, end),
        cmocka_unit_test_setup_teardown(post_that_nobody_hears_of_is_none, begin, end),
        cmocka_unit_test_setup_teardown(start_that_fails_opens_no_target, begin, end),
        cmocka_unit_test_setup_teardown(failed_end_of_start_is_told_to_all_targets, begin, end),
        cmocka_unit_test_setup_teardown(fence_that_fails_is_still_met, begin, end),
        cmocka_unit_test_setup_teardown(null_group_is_an_error_of_the_window, begin, end),
        cmocka_unit_test_setup_teardown(threads_lock_targets_of_their_own, begin, end),
    };
    return cmocka_run_group_tests(tests, open_world, NULL);
}
