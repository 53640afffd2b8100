/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program says of a window's routes (papers/002 section 5.2): the info keys async_config and
 * symmetric. Any thread of a user process, inside a hook. */
#ifndef HW_ENGINES_RMA_WINDOW_WISH_H
#define HW_ENGINES_RMA_WINDOW_WISH_H

#include "real/real.h"

#include <stdbool.h>

/* NONE: as before. ON: ghosts. OFF: targets themselves. AUTO: as HEADWAY_ADAPT chooses. */
enum hw_rma_wish { HW_RMA_WISH_NONE, HW_RMA_WISH_ON, HW_RMA_WISH_OFF, HW_RMA_WISH_AUTO };

/* `async_config`; NONE where the key is missing or has another value, of which one line tells. */
enum hw_rma_wish hw_rma_wish_read(MPI_Info info);

/* One line: processes of a window gave several, and that of the first counts. */
void hw_rma_wish_tell_differing(enum hw_rma_wish first);

/* `symmetric`: all members are at this call with nothing outstanding. Likewise. */
bool hw_rma_wish_is_symmetric(MPI_Info info);

#endif
