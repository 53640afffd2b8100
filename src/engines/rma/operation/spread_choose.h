/* SPDX-License-Identifier: BSD-3-Clause */
/* To which ghost an operation goes where the window is spread over several of a node (window/spread.h). Any
 * thread of a user process, inside a hook. */
#ifndef HW_ENGINES_RMA_OPERATION_SPREAD_CHOOSE_H
#define HW_ENGINES_RMA_OPERATION_SPREAD_CHOOSE_H

#include "engines/rma/operation/shape.h"
#include "engines/rma/window/window.h"

#include <stdint.h>

/* The ghost for an operation at `disp` of the node's memory, told that
 * it comes; or HW_RMA_SEVERAL. */
int hw_rma_spread_choose(struct hw_rma_window *window, const struct hw_rma_target *target, MPI_Aint disp,
                         const struct hw_rma_shape *shape);

/* An operation of `bytes` goes to this ghost of the target's node. */
void hw_rma_spread_use(struct hw_rma_window *window, const struct hw_rma_target *target, int ghost,
                       uint64_t bytes);

#endif
