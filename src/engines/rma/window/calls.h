/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engine is asked about windows (engines/engine.h). */
#ifndef HW_ENGINES_RMA_WINDOW_CALLS_H
#define HW_ENGINES_RMA_WINDOW_CALLS_H

#include "engines/engine.h"

extern HW_HIDDEN const struct hw_engine_window hw_rma_window_calls;

bool hw_rma_window_place(MPI_Win *win, int *rank, struct hw_engine_place *place);

#endif
