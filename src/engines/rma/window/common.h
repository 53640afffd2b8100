/* SPDX-License-Identifier: BSD-3-Clause */
/* The common shadow window: one for all windows whose memory lies in the ranges of their processes
 * (node_memory.h), made with the ghosts once, at the start. Each ghost exposes the ranges of its node in it,
 * and each user process its own where operations may go to it (route.h), so a target's places there are known
 * from its process and its address, and making a window takes no ghost: an exchange between its members, and
 * a handle. doc/adr/0016.
 *
 * Epochs, locks, groups and attributes are each window's own. What windows have in common is that a flush of
 * one completes operations of the others too, which MPI allows. */
#ifndef HW_ENGINES_RMA_WINDOW_COMMON_H
#define HW_ENGINES_RMA_WINDOW_COMMON_H

#include "real/real.h"

#include <stdbool.h>

/* At the start and in MPI_Finalize, collective over hw_world.all; the ranges are open. There is none where a
 * process of the job has no range, and where operations are spread over several ghosts (spread.h). */
void hw_rma_common_make(void);
void hw_rma_common_free(void);

/* Alike at all processes. */
bool hw_rma_common_is_there(void);

/* Its ranks are those of hw_world.ghosts_first. In user processes it is in one passive epoch from beginning
 * to end. */
MPI_Win hw_rma_common_win(void);

/* What the program holds of a window served through it: one of this process alone, with the base, size and
 * displacement unit of its own part, in a passive epoch as well. Operations go there only to be refused.
 * Local. Returns an MPI error code, not raised. */
int hw_rma_common_make_handle(void *base, MPI_Aint size, int disp_unit, MPI_Info hints, MPI_Win *handle);

#endif
