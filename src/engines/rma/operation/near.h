/* SPDX-License-Identifier: BSD-3-Clause */
/* Put and Get on a target of the caller's own node: the memory is mapped here, so they are a copy, and no
 * ghost is asked. Legal beside accumulates through the ghost, because MPI promises neither atomicity nor
 * order between a Put or Get and any other operation that no synchronisation separates (MPI-4.1
 * sections 12.7.1, 12.7.2). Accumulates and atomics are in near_accumulate.h. Not with
 * HEADWAY_REDIRECT=on, which takes everything through the ghosts. Any thread of a user process, inside a
 * hook. */
#ifndef HW_ENGINES_RMA_OPERATION_NEAR_H
#define HW_ENGINES_RMA_OPERATION_NEAR_H

#include "engines/rma/window/window.h"

/* A request that is complete: of an operation on nobody. Nothing if `request` is NULL: the operation was not
 * request-based. */
int hw_rma_near_complete(const struct hw_rma_window *window, MPI_Request *request);

/* For a target that is near (redirect.h). False: the operation must go to the ghost. Otherwise it is done,
 * with *request complete unless that is NULL (Rput, Rget), and *rc is what the program gets. */
bool hw_rma_near_put(struct hw_rma_window *window, struct hw_rma_part origin, int rank, MPI_Aint disp,
                     struct hw_rma_part target, MPI_Request *request, int *rc);
bool hw_rma_near_get(struct hw_rma_window *window, struct hw_rma_part origin, int rank, MPI_Aint disp,
                     struct hw_rma_part target, MPI_Request *request, int *rc);

#endif
