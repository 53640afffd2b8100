/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engine is asked about synchronisation (engines/engine.h). */
#ifndef HW_ENGINES_RMA_EPOCH_CALLS_H
#define HW_ENGINES_RMA_EPOCH_CALLS_H

#include "engines/engine.h"

extern HW_HIDDEN const struct hw_engine_epoch hw_rma_epoch_calls;

#endif
