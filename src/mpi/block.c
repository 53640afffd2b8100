/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/block.h"

#include "mpi/track.h"
#include "real/constants.h"

static MPI_Count count_at(struct hw_counts counts, int at)
{
    return counts.is_large ? ((const MPI_Count *)counts.counts)[at] : ((const int *)counts.counts)[at];
}

/* Types are asked only where something is counted: elsewhere they need not be valid. */
static uint64_t mean(struct hw_counts counts, int size)
{
    uint64_t sum = 0, type_size = 0;
    for (int i = 0; i < size; i++) {
        MPI_Count count = count_at(counts, i);
        if (count <= 0)
            continue;
        if (type_size == 0 || counts.is_typed_each)
            type_size = hw_real_type_size(counts.types[counts.is_typed_each ? i : 0]);
        sum += (uint64_t)count * type_size;
    }
    return sum > 0 ? sum / (uint64_t)size : 0;
}

static bool is_inter(MPI_Comm comm)
{
    int is_inter = 0;
    hw_bottom.Comm_test_inter(comm, &is_inter);
    return is_inter;
}

static int group_size(MPI_Comm comm)
{
    int size = 0;
    hw_bottom.Comm_size(comm, &size);
    return size;
}

/* Of the group at the other end, which is the own one within an intracommunicator. */
static int far_size(MPI_Comm comm)
{
    int size = 0;
    if (!is_inter(comm))
        return group_size(comm);
    hw_bottom.Comm_remote_size(comm, &size);
    return size;
}

static int own_rank(MPI_Comm comm)
{
    int rank = 0;
    hw_bottom.Comm_rank(comm, &rank);
    return rank;
}

static int sources(MPI_Comm comm)
{
    int topology = MPI_UNDEFINED, count = 0, unused;
    hw_bottom.Topo_test(comm, &topology);
    if (topology == MPI_CART && hw_bottom.Cartdim_get(comm, &count) == MPI_SUCCESS)
        return 2 * count;
    if (topology == MPI_GRAPH)
        hw_bottom.Graph_neighbors_count(comm, own_rank(comm), &count);
    else if (topology == MPI_DIST_GRAPH)
        hw_bottom.Dist_graph_neighbors_count(comm, &count, &unused, &unused);
    return count;
}

uint64_t hw_block_all(struct hw_counts counts, MPI_Comm comm) { return mean(counts, far_size(comm)); }

uint64_t hw_block_group(struct hw_counts counts, MPI_Comm comm) { return mean(counts, group_size(comm)); }

uint64_t hw_block_neighbors(struct hw_counts counts, MPI_Comm comm) { return mean(counts, sources(comm)); }

/* MPI-4.1 section 6.2.3: in the root's group of an intercommunicator the root says MPI_ROOT and the others,
 * who exchange nothing, MPI_PROC_NULL. */
static bool is_root(int root, MPI_Comm comm)
{
    return root == MPI_ROOT || (!is_inter(comm) && root == own_rank(comm));
}

uint64_t hw_block_rooted(MPI_Count own, MPI_Datatype own_type, MPI_Count each, MPI_Datatype each_type,
                         int root, MPI_Comm comm)
{
    if (root == HW_PROC_NULL)
        return 0;
    return is_root(root, comm) ? hw_engines_bytes(each, each_type) : hw_engines_bytes(own, own_type);
}

uint64_t hw_block_rooted_each(MPI_Count own, MPI_Datatype own_type, struct hw_counts each, int root,
                              MPI_Comm comm)
{
    if (root == HW_PROC_NULL)
        return 0;
    return is_root(root, comm) ? mean(each, far_size(comm)) : hw_engines_bytes(own, own_type);
}
