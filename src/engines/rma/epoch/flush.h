/* SPDX-License-Identifier: BSD-3-Clause */
/* What ends an access epoch: operations are complete. Any thread of a user process, inside a hook; codes of
 * MPI errors are already raised. */
#ifndef HW_ENGINES_RMA_EPOCH_FLUSH_H
#define HW_ENGINES_RMA_EPOCH_FLUSH_H

#include "engines/rma/epoch/arrival.h"
#include "engines/rma/window/window.h"

/* Operations on the target RANK, or progress where there are none. */
int hw_rma_flush_target(struct hw_rma_window *window, int rank, enum hw_rma_completion how);

/* Operations on all targets, at the target. */
int hw_rma_flush_everything(struct hw_rma_window *window);

#endif
