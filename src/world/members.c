/* SPDX-License-Identifier: BSD-3-Clause */
#include "world/members.h"

#include "base/atomic.h"
#include "objects/comm_state.h"
#include "real/constants.h"
#include "world/world.h"

#include <stdbool.h>
#include <stdlib.h>

static _Atomic uint64_t last_number;
static struct hw_comm_state state = HW_COMM_STATE_CLOSED;

void hw_world_members_close(void) { hw_comm_state_close(&state); }

/* FNV-1a over ranks. */
static uint64_t hash(const int *processes, int count)
{
    uint64_t likeness = UINT64_C(14695981039346656037);
    for (int i = 0; i < count; i++)
        likeness = (likeness ^ (uint32_t)processes[i]) * UINT64_C(1099511628211);
    return likeness;
}

/* False: a member is not of the world. */
static bool find(MPI_Comm comm, struct hw_world_members *members, int size)
{
    MPI_Group group = HW_GROUP_NULL, world = HW_GROUP_NULL;
    int *ranks = calloc((size_t)size, sizeof *ranks);
    for (int i = 0; ranks && i < size; i++)
        ranks[i] = i;
    bool is_found =
        ranks && hw_bottom.Comm_group(comm, &group) == MPI_SUCCESS &&
        hw_bottom.Comm_group(hw_world.all, &world) == MPI_SUCCESS &&
        hw_bottom.Group_translate_ranks(group, size, ranks, world, members->processes) == MPI_SUCCESS;
    if (group != HW_GROUP_NULL)
        hw_bottom.Group_free(&group);
    if (world != HW_GROUP_NULL)
        hw_bottom.Group_free(&world);
    free(ranks);
    for (int i = 0; i < size && is_found; i++)
        is_found = members->processes[i] != HW_UNDEFINED;
    return is_found;
}

static void *make(MPI_Comm comm)
{
    int is_inter = 1, size = 0;
    hw_bottom.Comm_test_inter(comm, &is_inter);
    hw_bottom.Comm_size(comm, &size);
    struct hw_world_members *members =
        calloc(1, sizeof *members + (size_t)size * sizeof members->processes[0]);
    if (members == NULL)
        return NULL;
    members->number = hw_atomic_add_relaxed(&last_number, 1) + 1;
    if (!is_inter && find(comm, members, size)) {
        members->size = size;
        members->likeness = hash(members->processes, size);
        hw_bottom.Comm_rank(comm, &members->rank);
    }
    return members;
}

const struct hw_world_members *hw_world_members_of(MPI_Comm comm)
{
    const struct hw_world_members *members = hw_comm_state_of(&state, comm, make);
    return members && members->size > 0 ? members : NULL;
}
