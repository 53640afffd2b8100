/* SPDX-License-Identifier: BSD-3-Clause */
/* Who serves an operation on a dynamic window (window/dynamic.h): its address says it. Any thread of a user
 * process, inside a hook. */
#ifndef HW_ENGINES_RMA_OPERATION_DYNAMIC_CHOOSE_H
#define HW_ENGINES_RMA_OPERATION_DYNAMIC_CHOOSE_H

#include "engines/rma/operation/shape.h"
#include "engines/rma/window/window.h"

#include <stdbool.h>

/* True: *win, *rank and *disp are its ghost's, or *rank is
 * HW_RMA_SEVERAL. False: *rank is the target's own in *win. */
bool hw_rma_dynamic_choose(struct hw_rma_window *window, MPI_Win *win, int *rank, MPI_Aint *disp,
                           const struct hw_rma_shape *shape);

/* Who may be asked for a place at a target, in the order in which pieces of an accumulate are made. */
enum hw_rma_dynamic_owner { HW_RMA_OF_GHOST, HW_RMA_OF_TARGET, HW_RMA_OWNERS };
enum hw_rma_dynamic_owner hw_rma_dynamic_owner(const struct hw_rma_window *window, int target_rank,
                                               MPI_Aint address);

/* An operation is going to the target itself. */
void hw_rma_dynamic_use(struct hw_rma_window *window, int target_rank, enum hw_rma_class class);

#endif
