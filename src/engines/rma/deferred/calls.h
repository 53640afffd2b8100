/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engine of deferred epochs is asked: it answers for windows that ghosts serve, and before the
 * engine of those (engines/table.h), which it calls where nothing is late any more. */
#ifndef HW_ENGINES_RMA_DEFERRED_CALLS_H
#define HW_ENGINES_RMA_DEFERRED_CALLS_H

#include "engines/engine.h"

extern HW_HIDDEN const struct hw_engine_rma hw_rma_deferred_operations;
extern HW_HIDDEN const struct hw_engine_epoch hw_rma_deferred_epochs;
extern HW_HIDDEN const struct hw_engine_window hw_rma_deferred_windows;

extern const struct hw_engine hw_engine_rma_deferred;

/* A program asks where the memory of others is: it may load and store there itself. */
bool hw_rma_deferred_window_place(MPI_Win *win, int *rank, struct hw_engine_place *place);

#endif
