/* SPDX-License-Identifier: BSD-3-Clause */
/* Accumulates and atomics on a target of the caller's own node, applied by the origin itself under the lock
 * of the target's ghost (apply_lock.h, doc/adr/0010). They are complete when the call returns.
 *
 * An operation goes to the ghost instead, as one on another node does, where the window's memory is divided
 * between ghosts, where the datatypes are not of one kind that we know (real/basic_type.h), or its arguments
 * are not plainly right: then the MPI judges them. What follows from the same origin to the same target
 * keeps to the ghost until a flush, since accumulates are ordered (MPI-4.1 section 12.7.2). Any thread of a
 * user process, inside a hook. */
#ifndef HW_ENGINES_RMA_OPERATION_NEAR_ACCUMULATE_H
#define HW_ENGINES_RMA_OPERATION_NEAR_ACCUMULATE_H

#include "engines/rma/operation/pieces.h"
#include "engines/rma/window/window.h"

/* False: the operation must go to the ghost. Otherwise it is done, `call->request`, if it has one, is
 * complete, and *rc is what the program gets. `disp` as the program gave it. */
bool hw_rma_near_accumulate(struct hw_rma_window *window, int rank, MPI_Aint disp,
                            const struct hw_rma_accumulate *call, int *rc);
bool hw_rma_near_compare_and_swap(struct hw_rma_window *window, int rank, MPI_Aint disp, const void *origin,
                                  const void *compare, void *result, MPI_Datatype datatype, int *rc);

/* In MPI_Finalize. */
void hw_rma_near_accumulate_close(void);

#endif
