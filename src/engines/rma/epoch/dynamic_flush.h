/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of operations that went to the targets of a dynamic window themselves (window/dynamic.h). Any
 * thread of a user process, inside a hook; codes of MPI errors are already raised. */
#ifndef HW_ENGINES_RMA_EPOCH_DYNAMIC_FLUSH_H
#define HW_ENGINES_RMA_EPOCH_DYNAMIC_FLUSH_H

#include "engines/rma/window/window.h"

/* Complete at the origin, or at the target too, what went to the targets themselves since the last time. */
int hw_rma_dynamic_flush(struct hw_rma_window *window, int target_rank, bool is_local);
int hw_rma_dynamic_flush_all(struct hw_rma_window *window, bool is_local);

#endif
