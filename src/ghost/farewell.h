/* SPDX-License-Identifier: BSD-3-Clause */
/* How user processes and ghosts part, in MPI_Finalize. */
#ifndef HW_GHOST_FAREWELL_H
#define HW_GHOST_FAREWELL_H

/* Collective over hw_world.all: nobody still owes a peer an acknowledgement when it stops making progress, in
 * MPI_Finalize. */
void hw_ghost_farewell_quiesce(void);

/* In a user process, when the program can do nothing more: every service leaves, the ghosts are told to go,
 * every service closes. Where a ghost was lost those that are left are told so, and nothing is done together
 * with them any more: what is still there the MPI's own end takes. */
void hw_ghost_farewell(void);

#endif
