/* SPDX-License-Identifier: BSD-3-Clause */
/* The block of a collective is how many bytes a process exchanges with one process, on average, where its
 * arguments are counts per process, or significant at the root alone (MPI-4.1 chapters 6 and 8). It is what
 * tells operations of different sizes apart, the same in every process of a regular program.
 *
 * Called after the operation or its post succeeded, inside an entry, by the program's threads; all calls to
 * MPI are local. */
#ifndef HW_MPI_BLOCK_H
#define HW_MPI_BLOCK_H

#include "base/visibility.h"
#include "real/real.h"

#include <stdbool.h>
#include <stdint.h>

/* One per process: an array of int, or of MPI_Count in a _c function, with one datatype for all or one each.
 */
struct hw_counts {
    const void *counts;
    const MPI_Datatype *types;
    bool is_large, is_typed_each;
};
#define HW_COUNTS(array, type)                                                                               \
    ((struct hw_counts){(array), &(type), sizeof *(array) == sizeof(MPI_Count), false})
#define HW_COUNTS_TYPED(array, types)                                                                        \
    ((struct hw_counts){(array), (types), sizeof *(array) == sizeof(MPI_Count), true})

/* Counts for each process that data come from: Allgatherv, Alltoallv, Alltoallw. */
uint64_t hw_block_all(struct hw_counts counts, MPI_Comm comm);

/* For each process of the own group: Reduce_scatter. */
uint64_t hw_block_group(struct hw_counts counts, MPI_Comm comm);

/* For each neighbour that data come from: Neighbor_allgatherv, Neighbor_alltoallv, Neighbor_alltoallw. */
uint64_t hw_block_neighbors(struct hw_counts counts, MPI_Comm comm);

/* Gather and Scatter: `own` is what a process that is not the root sends or receives, `each` what the root
 * receives from or sends to one of them. */
uint64_t hw_block_rooted(MPI_Count own, MPI_Datatype own_type, MPI_Count each, MPI_Datatype each_type,
                         int root, MPI_Comm comm);
/* Gatherv and Scatterv. */
uint64_t hw_block_rooted_each(MPI_Count own, MPI_Datatype own_type, struct hw_counts each, int root,
                              MPI_Comm comm);

#endif
