/* SPDX-License-Identifier: BSD-3-Clause */
/* User processes that call exit(3) without MPI_Finalize, where Hydra is the launcher: its proxy kills the
 * others the moment the connection to one (PMI_FD) closes, and mpiexec ends with what is left of all
 * statuses: that of a ghost that was killed (9) among them.
 *
 * So the node's last ghost is told of it. It keeps the connections of those that leave until the first of
 * them is gone, and ends with its status. What these still do, handlers of exit(3) and text that they write,
 * they can do as before: the ghost serves until their last handler has run. One of these may be what calls
 * MPI_Finalize, and then nobody has left. */
#ifndef HW_GHOST_LEAVER_H
#define HW_GHOST_LEAVER_H

#include <stdbool.h>

/* In a user process, when the bells are there. */
void hw_ghost_leaver_start(void);

/* In a user process: whether one of the node has left so. The ghost then ends, and the launcher the job. */
bool hw_ghost_leaver_is_any(void);

/* In a ghost, between two rounds. True while user processes leave: nothing tells a sleeping ghost of their
 * end. Does not return once one is gone. */
bool hw_ghost_leaver_look(void);

/* In place of sleep, while they do. */
void hw_ghost_leaver_pause(void);

#endif
