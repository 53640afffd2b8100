/* What the engine of one-sided communication is asked (engines/engine.h), by room: operation/calls.c,
 * epoch/calls.c and window/calls.c. */
#ifndef HW_ENGINES_RMA_CALLS_H
#define HW_ENGINES_RMA_CALLS_H

#include "engines/engine.h"

extern const struct hw_engine hw_engine_rma;

extern HW_HIDDEN const struct hw_engine_rma hw_rma_operation_calls;
extern HW_HIDDEN const struct hw_engine_epoch hw_rma_epoch_calls;
extern HW_HIDDEN const struct hw_engine_window hw_rma_window_calls;

enum hw_route hw_rma_window_place(MPI_Win *win, int *rank, struct hw_engine_place *place);

#endif
