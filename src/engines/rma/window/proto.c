#include "engines/rma/window/proto.h"

#include "base/clock.h"
#include "real/constants.h"

#include <stdlib.h>
#include <string.h>

#define QUIESCE_NS (2 * HW_NS_PER_MS)

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

static bool is_untrue_for_shadow(const char *key)
{
    static const char *const keys[] = {"no_locks",  "same_size",    "same_disp_unit",
                                       "alloc_shm", "async_config", "alloc_shared_noncontig",
                                       "epoch_type"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

int hw_rma_hints_pack(MPI_Info info, char *text, int capacity)
{
    int key_count = 0, bytes = 0;
    char key[MPI_MAX_INFO_KEY + 1], value[256];
    if (info == HW_INFO_NULL || hw_bottom.Info_get_nkeys(info, &key_count) != MPI_SUCCESS)
        return 0;
    for (int i = 0; i < key_count; i++) {
        int flag = 0;
        if (hw_bottom.Info_get_nthkey(info, i, key) != MPI_SUCCESS || is_untrue_for_shadow(key) ||
            hw_bottom.Info_get(info, key, sizeof value - 1, value, &flag) != MPI_SUCCESS || !flag)
            continue;
        size_t key_bytes = strlen(key) + 1, value_bytes = strlen(value) + 1;
        if ((size_t)bytes + key_bytes + value_bytes > (size_t)capacity)
            break; /* hints: those that do not fit are not taken */
        memcpy(text + bytes, key, key_bytes);
        memcpy(text + bytes + key_bytes, value, value_bytes);
        bytes += (int)(key_bytes + value_bytes);
    }
    return bytes;
}

MPI_Info hw_rma_hints_unpack(const char *text, int bytes)
{
    MPI_Info info = HW_INFO_NULL;
    if (bytes == 0 || hw_bottom.Info_create(&info) != MPI_SUCCESS)
        return HW_INFO_NULL;
    for (const char *key = text; key < text + bytes;) {
        const char *value = key + strlen(key) + 1;
        hw_bottom.Info_set(info, key, value);
        key = value + strlen(value) + 1;
    }
    return info;
}

void hw_rma_quiesce(void)
{
    MPI_Request request;
    int flag;
    hw_bottom.Barrier(hw_world.all);
    if (hw_bottom.Irecv(NULL, 0, HW_BYTE, hw_world.rank, HW_RMA_TAG_NEVER, hw_world.all, &request) !=
        MPI_SUCCESS)
        return;
    for (uint64_t end_ns = hw_clock_now_ns() + QUIESCE_NS; hw_clock_now_ns() < end_ns;)
        hw_bottom.Test(&request, &flag, HW_STATUS_IGNORE);
    hw_bottom.Cancel(&request);
    hw_bottom.Wait(&request, HW_STATUS_IGNORE);
    hw_bottom.Barrier(hw_world.all);
}
