/* What of epochs (rma.h) the rest of the engine needs. Any thread of a user process, inside a hook. */
#ifndef HW_ENGINES_RMA_EPOCH_H
#define HW_ENGINES_RMA_EPOCH_H

#include "engines/rma/window.h"

/* Waits until what was put has arrived at GHOST, which was flushed. */
int hw_rma_confirm(struct hw_rma_window *window, int ghost);

#endif
