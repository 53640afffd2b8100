/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of targets on the caller's own node, as this process reaches it without the MPI
 * (operation/near.h, operation/near_accumulate.h). Not with HEADWAY_REDIRECT=on. User processes. */
#ifndef HW_ENGINES_RMA_WINDOW_NEARBY_H
#define HW_ENGINES_RMA_WINDOW_NEARBY_H

#include "engines/rma/window/window.h"

/* The communicator that copies travel on. Without one every operation goes to the ghosts. */
void hw_rma_nearby_open(void);
void hw_rma_nearby_close(void);
MPI_Comm hw_rma_nearby_comm(void); /* of this process alone; errors are returned */

/* After the memory of WINDOW was made, that of this process at `own`: where the targets of this node lie in
 * this process. */
void hw_rma_nearby_find(struct hw_rma_window *window, void *own);

#endif
