/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engine is asked about operations (engines/engine.h). */
#ifndef HW_ENGINES_RMA_OPERATION_CALLS_H
#define HW_ENGINES_RMA_OPERATION_CALLS_H

#include "engines/engine.h"

extern HW_HIDDEN const struct hw_engine_rma hw_rma_operation_calls;

#endif
