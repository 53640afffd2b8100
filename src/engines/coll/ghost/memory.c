/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/coll/ghost/memory.h"

#include "base/log.h"
#include "base/peek.h"
#include "ghost/give_up.h"
#include "world/world.h"

#include <string.h>

static pid_t pid_of(int rank)
{
    return hw_world.node_pids[hw_world.processes[hw_world.user_ranks[rank]].local_index];
}

static void check(int error, int rank, const char *what, uint64_t address)
{
    if (error == 0)
        return;
    hw_log_error(
        "rank %d takes part in a nonblocking collective, and its ghost cannot %s %#llx (%s); give MPI "
        "a buffer that is there until the operation is complete",
        rank, what, (unsigned long long)address, strerror(error));
    hw_ghost_give_up("cannot reach the memory of a user process");
}

void hw_coll_memory_read(int rank, uint64_t address, void *to, uint64_t bytes)
{
    check(hw_peek(pid_of(rank), (uintptr_t)address, to, bytes), rank, "read", address);
}

void hw_coll_memory_write(int rank, uint64_t address, const void *from, uint64_t bytes)
{
    check(hw_poke(pid_of(rank), (uintptr_t)address, from, bytes), rank, "write to", address);
}
