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

enum hw_status hw_rma_comms_make(const int *members, int member_count, bool wants_node,
                                 struct hw_rma_comms *comms)
{
    *comms = (struct hw_rma_comms){.window = hw_world.ghosts_first, .node = hw_world.node, .is_world = true};
    if (members == NULL)
        return HW_OK;
    enum hw_status status = HW_MPI;
    int ghost_count, count = 0, own_node = hw_world_own_node();
    int *ghosts = hw_rma_ghosts_of(members, member_count, &ghost_count);
    int *ranks = calloc((size_t)member_count + (size_t)ghost_count, sizeof *ranks);
    if (ghosts == NULL || ranks == NULL)
        goto out;
    memcpy(ranks, ghosts, (size_t)ghost_count * sizeof *ranks);
    memcpy(ranks + ghost_count, members, (size_t)member_count * sizeof *ranks);
    if (!make_comm(ranks, member_count + ghost_count, HW_RMA_TAG_GROUP, &comms->window))
        goto out;
    comms->node = HW_COMM_NULL;
    for (int i = 0; i < member_count; i++)
        if (hw_world.processes[members[i]].node == own_node)
            ranks[count++] = members[i];
    for (int i = 0; i < ghost_count; i++)
        if (hw_world.processes[ghosts[i]].node == own_node)
            ranks[count++] = ghosts[i];
    if (wants_node && !make_comm(ranks, count, HW_RMA_TAG_NODE_GROUP, &comms->node)) {
        hw_bottom.Comm_free(&comms->window);
        goto out;
    }
    comms->is_world = false;
    status = HW_OK;
out:
    free(ranks);
    free(ghosts);
    return status;
}

void hw_rma_comms_free(struct hw_rma_comms *comms)
{
    if (comms->is_world)
        return;
    hw_bottom.Comm_free(&comms->window);
    if (comms->node != HW_COMM_NULL)
        hw_bottom.Comm_free(&comms->node);
}
