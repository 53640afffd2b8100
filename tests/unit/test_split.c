/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the world of a large job, its processes dealt out to its nodes one by one: everybody is found,
 * and in a time that does not grow with the number of processes times that of nodes. */
#include "base/clock.h"
#include "real/constants.h"
#include "real/table.h"
#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 16 * 1024, OF_A_NODE = 32, PROCESSES = NODES * OF_A_NODE };

/* Some milliseconds are enough. Rounds of all processes for each node take half a minute. */
#define MOST_NS (2 * HW_NS_PER_S)

static int get_version(char *text, int *length)
{
    *length = snprintf(text, MPI_MAX_LIBRARY_VERSION_STRING, "an MPI");
    return MPI_SUCCESS;
}

static int comm_dup(MPI_Comm comm, MPI_Comm *made)
{
    *made = comm;
    return MPI_SUCCESS;
}

static int comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    (void)color, (void)key;
    return comm_dup(comm, made);
}

static int comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made)
{
    (void)type, (void)key, (void)info;
    return comm_dup(comm, made);
}

static int comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = 0;
    return MPI_SUCCESS;
}

static int comm_size(MPI_Comm comm, int *size)
{
    (void)comm;
    *size = PROCESSES;
    return MPI_SUCCESS;
}

static int comm_free(MPI_Comm *comm)
{
    *comm = HW_COMM_NULL;
    return MPI_SUCCESS;
}

static int set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    (void)comm, (void)handler;
    return MPI_SUCCESS;
}

static int set_name(MPI_Comm comm, const char *name)
{
    (void)comm, (void)name;
    return MPI_SUCCESS;
}

static int create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *erase, int *keyval,
                         void *extra)
{
    (void)copy, (void)erase, (void)extra;
    *keyval = 7;
    return MPI_SUCCESS;
}

static int set_attr(MPI_Comm comm, int keyval, void *value)
{
    (void)comm, (void)keyval, (void)value;
    return MPI_SUCCESS;
}

static int bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    (void)buffer, (void)count, (void)type, (void)root, (void)comm;
    return MPI_SUCCESS;
}

/* Of a node's processes all say the same. What the others of the world tell differs in what comes first, the
 * leader of their node. */
static int allgather(const void *sent, int count, MPI_Datatype type, void *received, int of_each,
                     MPI_Datatype received_type, MPI_Comm comm)
{
    (void)type, (void)of_each, (void)received_type, (void)comm;
    bool is_of_world = count > (int)sizeof(pid_t);
    for (int i = 0; i < (is_of_world ? PROCESSES : OF_A_NODE); i++) {
        char *place = (char *)received + (size_t)i * (size_t)count;
        int leader = i % NODES;
        memcpy(place, sent, (size_t)count);
        if (is_of_world)
            memcpy(place, &leader, sizeof leader);
    }
    return MPI_SUCCESS;
}

static int begin(void **state)
{
    (void)state;
    hw_real_pretend_loaded();
    hw_bottom.Get_library_version = get_version;
    hw_bottom.Comm_dup = comm_dup;
    hw_bottom.Comm_split = comm_split;
    hw_bottom.Comm_split_type = comm_split_type;
    hw_bottom.Comm_rank = comm_rank;
    hw_bottom.Comm_size = comm_size;
    hw_bottom.Comm_free = comm_free;
    hw_bottom.Comm_set_errhandler = set_errhandler;
    hw_bottom.Comm_set_name = set_name;
    hw_bottom.Comm_create_keyval = create_keyval;
    hw_bottom.Comm_set_attr = set_attr;
    hw_bottom.Bcast = bcast;
    hw_bottom.Allgather = allgather;
    return 0;
}

static void check_process(int rank)
{
    const struct hw_world_process *process = &hw_world.processes[rank];
    int ghost = PROCESSES - NODES + rank % NODES;
    assert_int_equal(process->node, rank % NODES);
    assert_int_equal(process->ghost, ghost);
    assert_int_equal(process->user_rank, rank == ghost ? -1 : rank);
    assert_int_equal(process->local_index, rank == ghost ? 0 : rank / NODES);
    assert_int_equal(hw_world.ghost_ranks[hw_world_ghost_place(rank)], ghost);
}

static void everybody_is_found(void **state)
{
    (void)state;
    const struct hw_option_share one = {.count = 1, .per = HW_OPTION_GHOSTS_PER_NODE};
    uint64_t began_ns = hw_clock_thread_cpu_ns();
    assert_int_equal(hw_world_split(one), HW_OK);
    assert_true(hw_clock_thread_cpu_ns() - began_ns < MOST_NS);
    assert_int_equal(hw_world.node_count, NODES);
    assert_int_equal(hw_world.ghost_count, NODES);
    assert_int_equal(hw_world.user_count, PROCESSES - NODES);
    for (int rank = 0; rank < PROCESSES; rank++)
        check_process(rank);
    hw_world_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(everybody_is_found, begin)};
    return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
