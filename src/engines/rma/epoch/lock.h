/* SPDX-License-Identifier: BSD-3-Clause */
/* Targets that no epoch has opened yet. Any thread of a user process, inside a hook. */
#ifndef HW_ENGINES_RMA_EPOCH_LOCK_H
#define HW_ENGINES_RMA_EPOCH_LOCK_H

#include "engines/rma/window/window.h"

/* Takes its lock under lock_all; an MPI error, already raised, if there is no epoch. */
int hw_rma_open_target(struct hw_rma_window *window, int rank);

/* Under lock_all: takes the locks of all targets whose memory the program may load and store, since it has
 * been shown it. An MPI error, already raised; nothing to do elsewhere. */
int hw_rma_open_shown(struct hw_rma_window *window);

#endif
