/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/window/comms.h"

#include "engines/rma/window/protocol.h"
#include "real/constants.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

int *hw_rma_ghosts_of(const int *members, int member_count, int *ghost_count)
{
    int *ghosts = calloc((size_t)hw_world.ghost_count, sizeof *ghosts);
    bool *is_there = calloc((size_t)hw_world.node_count, sizeof *is_there);
    *ghost_count = 0;
    if (ghosts && is_there) {
        for (int i = 0; i < member_count; i++)
            is_there[hw_world.processes[members[i]].node] = true;
        for (int node = 0; node < hw_world.node_count; node++)
            for (int i = 0; is_there[node] && i < hw_world.nodes[node].ghost_count; i++)
                ghosts[(*ghost_count)++] = hw_world_ghosts_of_node(node)[i];
    } else {
        free(ghosts);
        ghosts = NULL;
    }
    free(is_there);
    return ghosts;
}

static bool make_comm(const int *ranks, int count, int tag, MPI_Comm *comm)
{
    MPI_Group all, group;
    if (hw_bottom.Comm_group(hw_world.all, &all) != MPI_SUCCESS)
        return false;
    bool is_made = hw_bottom.Group_incl(all, count, ranks, &group) == MPI_SUCCESS;
    if (is_made) {
        is_made = hw_bottom.Comm_create_group(hw_world.all, group, tag, comm) == MPI_SUCCESS;
        hw_bottom.Group_free(&group);
    }
    hw_bottom.Group_free(&all);
    if (is_made)
        hw_bottom.Comm_set_errhandler(*comm, HW_ERRORS_RETURN);
    return is_made;
}

bool hw_rma_comms_prepare(const int *members, int member_count, struct hw_rma_comms *comms)
{
    *comms = (struct hw_rma_comms){.window = hw_world.ghosts_first, .node = hw_world.node, .is_world = true};
    if (members == NULL)
        return true;
    *comms =
        (struct hw_rma_comms){.window = HW_COMM_NULL, .node = HW_COMM_NULL, .member_count = member_count};
    int *ghosts = hw_rma_ghosts_of(members, member_count, &comms->ghost_count);
    size_t ghost_count = (size_t)comms->ghost_count;
    comms->ranks = calloc(2 * ((size_t)member_count + ghost_count), sizeof *comms->ranks);
    if (ghosts && comms->ranks) {
        memcpy(comms->ranks, ghosts, ghost_count * sizeof *ghosts);
        memcpy(comms->ranks + ghost_count, members, (size_t)member_count * sizeof *members);
    }
    bool is_prepared = ghosts && comms->ranks;
    free(ghosts);
    return is_prepared;
}

/* Those of this node, of some; returns how many. */
static int pick_near(const int *ranks, int count, int *near)
{
    int near_count = 0, own_node = hw_world_own_node();
    for (int i = 0; i < count; i++)
        if (hw_world.processes[ranks[i]].node == own_node)
            near[near_count++] = ranks[i];
    return near_count;
}

enum hw_status hw_rma_comms_make(struct hw_rma_comms *comms, bool wants_node)
{
    if (comms->is_world)
        return HW_OK;
    int count = comms->ghost_count + comms->member_count;
    int *near = comms->ranks + count;
    bool is_made = make_comm(comms->ranks, count, HW_RMA_TAG_GROUP, &comms->window);
    if (is_made && wants_node) {
        int near_count = pick_near(comms->ranks + comms->ghost_count, comms->member_count, near);
        near_count += pick_near(comms->ranks, comms->ghost_count, near + near_count);
        is_made = make_comm(near, near_count, HW_RMA_TAG_NODE_GROUP, &comms->node);
    }
    free(comms->ranks);
    comms->ranks = NULL;
    return is_made ? HW_OK : HW_MPI;
}

void hw_rma_comms_free(struct hw_rma_comms *comms)
{
    free(comms->ranks);
    comms->ranks = NULL;
    if (comms->is_world)
        return;
    if (comms->window != HW_COMM_NULL)
        hw_bottom.Comm_free(&comms->window);
    if (comms->node != HW_COMM_NULL)
        hw_bottom.Comm_free(&comms->node);
}
