#include "world/world.h"

#include "base/log.h"
#include "real/constants.h"
#include "world/comm.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hw_world hw_world = {.user_rank = -1};
struct hw_world_translation hw_world_translation;

static void (*end_callback)(void);

/* What each process tells all others. */
struct introduction {
    int node_leader; /* rank in `all` of the first process of its node */
    int node_rank;
    int node_size;
};

static int find_node(const int *leaders, int count, int leader)
{
    for (int i = count - 1; i >= 0; i--)
        if (leaders[i] == leader)
            return i;
    return -1;
}

/* Who is what. Processes of a node are numbered in the order of `all`, so its first comes before the others.
 */
static void assign(const struct introduction *all, int *leaders)
{
    for (int rank = 0; rank < hw_world.size; rank++) {
        const struct introduction *one = &all[rank];
        struct hw_world_process *process = &hw_world.processes[rank];
        process->node = find_node(leaders, hw_world.node_count, one->node_leader);
        if (process->node < 0) {
            process->node = hw_world.node_count++;
            leaders[process->node] = one->node_leader;
        }
        int local_users = one->node_size - hw_world.ghosts_per_node;
        if (one->node_rank < local_users) {
            process->local_index = one->node_rank;
            process->user_rank = hw_world.user_count;
            hw_world.user_ranks[hw_world.user_count++] = rank;
        } else {
            process->local_index = one->node_rank - local_users;
            process->user_rank = -1;
            hw_world.ghost_ranks[process->node * hw_world.ghosts_per_node + process->local_index] = rank;
        }
    }
    hw_world.user_rank = hw_world.processes[hw_world.rank].user_rank;
}

static enum hw_status check_nodes(const struct introduction *all)
{
    for (int rank = 0; rank < hw_world.size; rank++) {
        if (all[rank].node_size > hw_world.ghosts_per_node)
            continue;
        if (hw_world.rank == 0)
            hw_log_error(
                "HEADWAY_GHOSTS=%d, but the node of process %d has %d process%s, and at least one must "
                "be left to the program; start more processes per node, or ask for fewer ghosts",
                hw_world.ghosts_per_node, rank, all[rank].node_size, all[rank].node_size == 1 ? "" : "es");
        return HW_BAD_INPUT;
    }
    return HW_OK;
}

static bool allocate(void)
{
    size_t size = (size_t)hw_world.size;
    hw_world.processes = calloc(size, sizeof *hw_world.processes);
    hw_world.user_ranks = calloc(size, sizeof *hw_world.user_ranks);
    hw_world.ghost_ranks = calloc(size * (size_t)hw_world.ghosts_per_node, sizeof *hw_world.ghost_ranks);
    hw_world.node_pids = calloc(size, sizeof *hw_world.node_pids);
    return hw_world.processes && hw_world.user_ranks && hw_world.ghost_ranks && hw_world.node_pids;
}

static bool make_user_world(void)
{
    MPI_Comm seen;
    bool is_ghost = hw_world.user_rank < 0;
    if (hw_bottom.Comm_split(HW_COMM_WORLD, is_ghost, hw_world.rank, &seen) != MPI_SUCCESS)
        return false;
    if (is_ghost)
        return hw_bottom.Comm_free(&seen) == MPI_SUCCESS;
    if (hw_bottom.Comm_dup(seen, &hw_world.users) != MPI_SUCCESS ||
        hw_bottom.Comm_set_name(seen, "MPI_COMM_WORLD") != MPI_SUCCESS)
        return false;
    hw_bottom.Comm_set_errhandler(hw_world.users, HW_ERRORS_RETURN);
    hw_world_translation.to = seen;
    hw_world_translation.from = HW_COMM_WORLD;
    return true;
}

static bool make_ghosts_first(void)
{
    const struct hw_world_process *own = &hw_world.processes[hw_world.rank];
    int ghost_count = hw_world.node_count * hw_world.ghosts_per_node;
    int key = own->user_rank < 0 ? own->node * hw_world.ghosts_per_node + own->local_index
                                 : ghost_count + own->user_rank;
    if (hw_bottom.Comm_split(hw_world.all, 0, key, &hw_world.ghosts_first) != MPI_SUCCESS)
        return false;
    hw_bottom.Comm_set_errhandler(hw_world.ghosts_first, HW_ERRORS_RETURN);
    return true;
}

static enum hw_status meet(struct introduction *all, int *leaders)
{
    struct introduction own = {.node_leader = hw_world.rank};
    pid_t pid = getpid();
    hw_bottom.Comm_rank(hw_world.node, &own.node_rank);
    hw_bottom.Comm_size(hw_world.node, &own.node_size);
    hw_world.node_size = own.node_size;
    if (hw_bottom.Bcast(&own.node_leader, 1, HW_INT, 0, hw_world.node) != MPI_SUCCESS ||
        hw_bottom.Allgather(&own, sizeof own, HW_BYTE, all, sizeof own, HW_BYTE, hw_world.all) != MPI_SUCCESS)
        return HW_MPI;
    enum hw_status status = check_nodes(all);
    if (status != HW_OK)
        return status;
    assign(all, leaders);
    if (hw_bottom.Allgather(&pid, sizeof pid, HW_BYTE, hw_world.node_pids, sizeof pid, HW_BYTE,
                            hw_world.node) != MPI_SUCCESS)
        return HW_MPI;
    return make_ghosts_first() && make_user_world() ? HW_OK : HW_MPI;
}

enum hw_status hw_world_split(int ghosts_per_node)
{
    enum hw_status status = HW_MPI;
    struct introduction *all = NULL;
    int *leaders = NULL;
    hw_world.ghosts_per_node = ghosts_per_node;
    if (hw_bottom.Comm_dup(HW_COMM_WORLD, &hw_world.all) != MPI_SUCCESS)
        goto out;
    hw_bottom.Comm_set_errhandler(hw_world.all, HW_ERRORS_RETURN);
    hw_bottom.Comm_rank(hw_world.all, &hw_world.rank);
    hw_bottom.Comm_size(hw_world.all, &hw_world.size);
    if (hw_bottom.Comm_split_type(hw_world.all, MPI_COMM_TYPE_SHARED, hw_world.rank, HW_INFO_NULL,
                                  &hw_world.node) != MPI_SUCCESS)
        goto out;
    hw_bottom.Comm_set_errhandler(hw_world.node, HW_ERRORS_RETURN);
    all = calloc((size_t)hw_world.size, sizeof *all);
    leaders = calloc((size_t)hw_world.size, sizeof *leaders);
    if (all && leaders && allocate())
        status = meet(all, leaders);
out:
    if (status == HW_MPI)
        hw_log_error(
            "the world cannot be split into user processes and ghosts: the MPI refuses, or memory is "
            "short; run without HEADWAY_GHOSTS");
    free(all);
    free(leaders);
    return status;
}

static int copy_nothing(MPI_Comm comm, int keyval, void *extra, void *value_in, void *value_out, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)value_in, (void)value_out;
    *flag = 0;
    return MPI_SUCCESS;
}

static int self_is_freed(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    end_callback();
    MPI_Comm seen = hw_world_translation.to;
    hw_world_translation = (struct hw_world_translation){0};
    hw_bottom.Comm_free(&seen);
    hw_world_end();
    return MPI_SUCCESS;
}

enum hw_status hw_world_at_end(void (*before_end)(void))
{
    int keyval;
    end_callback = before_end;
    if (hw_bottom.Comm_create_keyval(copy_nothing, self_is_freed, &keyval, NULL) != MPI_SUCCESS ||
        hw_bottom.Comm_set_attr(HW_COMM_SELF, keyval, NULL) != MPI_SUCCESS)
        return HW_MPI;
    hw_bottom.Comm_free_keyval(&keyval);
    return HW_OK;
}

void hw_world_end(void)
{
    if (hw_world.user_rank >= 0)
        hw_bottom.Comm_free(&hw_world.users);
    hw_bottom.Comm_free(&hw_world.ghosts_first);
    hw_bottom.Comm_free(&hw_world.node);
    hw_bottom.Comm_free(&hw_world.all);
    free(hw_world.processes);
    free(hw_world.user_ranks);
    free(hw_world.ghost_ranks);
    free(hw_world.node_pids);
    hw_world = (struct hw_world){.user_rank = -1};
}
