/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/reach.h"

#include "base/peek.h"
#include "real/constants.h"
#include "world/world.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>

static uint64_t drawn;

struct hw_ghost_proof hw_ghost_reach_proof(void)
{
    if (drawn == 0 && getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
        drawn = (uint64_t)(uintptr_t)&drawn;
    return (struct hw_ghost_proof){.address = (uint64_t)(uintptr_t)&drawn, .value = drawn};
}

const char *hw_ghost_reach_refuse(pid_t pid, struct hw_ghost_proof proof)
{
    uint64_t found = 0;
    if (pid <= 0)
        return "its number is not known";
    int error = hw_peek(pid, (uintptr_t)proof.address, &found, sizeof found);
    if (error)
        return strerror(error);
    return found == proof.value ? NULL : "its number means another process";
}

static bool can_read(int process, const struct hw_ghost_proof *proofs)
{
    int local_index = hw_world.processes[process].local_index;
    return hw_ghost_reach_refuse(hw_world.node_pids[local_index], proofs[local_index]) == NULL;
}

static bool can_read_all(const struct hw_ghost_proof *proofs)
{
    for (int i = 0; hw_world_is_ghost() && i < hw_world.size; i++)
        if (hw_world.processes[i].user_rank >= 0 && hw_world.processes[i].ghost == hw_world.rank &&
            !can_read(i, proofs))
            return false;
    return true;
}

/* Yama lets a process be read by its parent and by whom it names alone. It names one: asked for only where
 * it is needed, since the program may have named its debugger. */
static bool can_all_read(const struct hw_ghost_proof *proofs)
{
    if (hw_world_have_all(hw_world.node, can_read_all(proofs)))
        return true;
    if (!hw_world_is_ghost())
        prctl(PR_SET_PTRACER, (unsigned long)hw_world.node_pids[hw_world_ghost_in_node()], 0, 0, 0);
    hw_bottom.Barrier(hw_world.node);
    return hw_world_have_all(hw_world.node, can_read_all(proofs));
}

bool hw_ghost_reach_users(void)
{
    struct hw_ghost_proof *proofs = calloc((size_t)hw_world.own_node->process_count, sizeof *proofs);
    const struct hw_ghost_proof own = hw_ghost_reach_proof();
    bool is_told = hw_world_have_all(hw_world.node, proofs != NULL) && proofs != NULL &&
                   hw_bottom.Allgather(&own, sizeof own, HW_BYTE, proofs, sizeof own, HW_BYTE,
                                       hw_world.node) == MPI_SUCCESS;
    bool is_reached = hw_world_have_all(hw_world.node, is_told) && proofs != NULL && can_all_read(proofs);
    free(proofs);
    return is_reached;
}
