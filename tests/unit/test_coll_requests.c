/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a collective that cannot be handed to the ghost leaves nothing behind: no receive, no buffer,
 * no place in the tracker, no command that the ghost would wait for. */
#include "engines/coll/shared/opened.h"
#include "engines/coll/user/requests.h"
#include "ghost/channel.h"
#include "request_tests.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

enum { OWN, GHOST, PROCESSES };

static const struct hw_world_process processes[PROCESSES] = {{.node = 0, .user_rank = 0, .ghost = GHOST},
                                                             {.node = 1, .user_rank = -1, .ghost = GHOST}};
static const struct hw_world_node nodes[2] = {{.process_count = 1}, {.process_count = 1, .ghost_count = 1}};

static int send_rc, live, cancelled, raised;

static int fake_irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                      MPI_Request *request)
{
    (void)buf, (void)count, (void)type, (void)source, (void)tag, (void)comm;
    *request = handle_of(1);
    live++;
    return MPI_SUCCESS;
}

static int fake_send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    (void)buf, (void)count, (void)type, (void)dest, (void)tag, (void)comm;
    return send_rc;
}

static int fake_cancel(MPI_Request *request)
{
    cancelled += *request == handle_of(1);
    return MPI_SUCCESS;
}

/* Of one that was not cancelled it would never return. */
static int fake_wait(MPI_Request *request, MPI_Status *status)
{
    (void)status;
    assert_int_equal(cancelled, live);
    live--;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

static int fake_raise(MPI_Comm comm, int error)
{
    (void)comm;
    assert_int_equal(error, MPI_ERR_OTHER);
    raised++;
    return MPI_SUCCESS;
}

/* What the ghost is told in MPI_Finalize. */
static int fake_allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm)
{
    (void)type, (void)op, (void)comm;
    memcpy(recvbuf, sendbuf, (size_t)count * sizeof(uint64_t));
    return MPI_SUCCESS;
}

static int set_up(void **state)
{
    hw_world.processes = (struct hw_world_process *)(uintptr_t)processes;
    hw_world.nodes = (struct hw_world_node *)(uintptr_t)nodes;
    hw_world.rank = OWN;
    hw_world.ghost_count = 1;
    hw_coll_opened.tag_count = 8;
    hw_bottom.Irecv = fake_irecv;
    hw_bottom.Send = fake_send;
    hw_bottom.Cancel = fake_cancel;
    hw_bottom.Wait = fake_wait;
    hw_bottom.Comm_call_errhandler = fake_raise;
    hw_bottom.Allreduce = fake_allreduce;
    live = cancelled = raised = 0;
    assert_int_equal(hw_ghost_channel_open(), HW_OK);
    return start_empty(state);
}

static int post(bool has_copy, MPI_Request *request)
{
    static char memory[8];
    struct hw_coll_posted posted = {.kind = HW_COLL_BCAST, .bytes = sizeof memory};
    struct hw_coll_buffer received = {.memory = memory, .copy = has_copy ? malloc(sizeof memory) : NULL};
    *request = MPI_REQUEST_NULL;
    return hw_coll_request(MPI_COMM_WORLD, &posted, NULL, &received, request);
}

static void untold_leaves_nothing(void **state)
{
    MPI_Request request;
    (void)state;
    send_rc = MPI_ERR_OTHER;
    for (int has_copy = 0; has_copy < 2; has_copy++) {
        cancelled = raised = 0;
        assert_int_equal(post(has_copy, &request), MPI_ERR_OTHER);
        assert_int_equal(raised, 1);
        assert_int_equal(live, 0);
        assert_true(request == MPI_REQUEST_NULL);
        assert_counts(0, 0, 0);
    }
    send_rc = MPI_SUCCESS;
    assert_int_equal(post(false, &request), MPI_SUCCESS);
    assert_int_equal(live, 1);
    assert_int_equal(hw_ghost_channel_sum()[0], 1); /* what the ghost has got, no more */
    hw_ghost_channel_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(untold_leaves_nothing, set_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
