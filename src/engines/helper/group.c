/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/helper/group.h"

#include "objects/comm_state.h"
#include "real/constants.h"
#include "world/world.h"

#include <stdlib.h>

static struct hw_comm_state state = HW_COMM_STATE_CLOSED;

void hw_helper_groups_close(void) { hw_comm_state_close(&state); }

/* FNV-1a over ranks. */
static uint64_t hash(const int *processes, int count)
{
    uint64_t id = UINT64_C(14695981039346656037);
    for (int i = 0; i < count; i++)
        id = (id ^ (uint32_t)processes[i]) * UINT64_C(1099511628211);
    return id;
}

/* False: a member is not of the world. */
static bool find_members(MPI_Comm comm, struct hw_helper_group *group, int size)
{
    MPI_Group members, world;
    bool is_found = false;
    int *ranks = calloc((size_t)size, sizeof *ranks);
    if (ranks == NULL || hw_bottom.Comm_group(comm, &members) != MPI_SUCCESS) {
        free(ranks);
        return false;
    }
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    if (hw_bottom.Comm_group(hw_world.all, &world) == MPI_SUCCESS) {
        is_found =
            hw_bottom.Group_translate_ranks(members, size, ranks, world, group->processes) == MPI_SUCCESS;
        hw_bottom.Group_free(&world);
    }
    hw_bottom.Group_free(&members);
    free(ranks);
    for (int i = 0; i < size && is_found; i++)
        is_found = group->processes[i] != HW_UNDEFINED;
    return is_found;
}

static void *make(MPI_Comm comm)
{
    int is_inter = 1, size = 0;
    hw_bottom.Comm_test_inter(comm, &is_inter);
    hw_bottom.Comm_size(comm, &size);
    struct hw_helper_group *group = calloc(1, sizeof *group + (size_t)size * sizeof group->processes[0]);
    if (group == NULL)
        return NULL;
    if (!is_inter && find_members(comm, group, size)) {
        group->size = size;
        group->id = hash(group->processes, size);
        hw_bottom.Comm_rank(comm, &group->rank);
    }
    return group;
}

const struct hw_helper_group *hw_helper_group_of(MPI_Comm comm)
{
    const struct hw_helper_group *group = hw_comm_state_of(&state, comm, make);
    return group && group->size > 0 ? group : NULL;
}
