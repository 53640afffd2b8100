/* SPDX-License-Identifier: BSD-3-Clause */
/* What the helper's engine is asked of one-sided communication: it makes the real call, and rings for the
 * target (rings.h). Windows that ghosts serve never come here: their engine is asked first. */
#ifndef HW_ENGINES_HELPER_OPERATIONS_H
#define HW_ENGINES_HELPER_OPERATIONS_H

#include "base/visibility.h"
#include "engines/engine.h"

extern HW_HIDDEN const struct hw_engine_rma hw_helper_rma_calls;
extern HW_HIDDEN const struct hw_engine_epoch hw_helper_epoch_calls;
extern HW_HIDDEN const struct hw_engine_window hw_helper_window_calls;

#endif
