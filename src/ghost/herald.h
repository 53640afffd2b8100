/* SPDX-License-Identifier: BSD-3-Clause */
/* Says that a ghost was killed, from outside: launchers kill the whole job the moment one process is gone,
 * before any other process of it can write a line. A child of the ghost, in a session of its own, waits for a
 * lock that the ghost has; if it is free because its owner died, by a signal, and no process that it serves
 * is about to die as well, the ghost was killed. It also looks for the launcher's process on this node: if
 * that was killed, nobody is left to end the job, and the herald ends the node's processes and its ghost.
 * Ghost's only thread. */
#ifndef HW_GHOST_HERALD_H
#define HW_GHOST_HERALD_H

void hw_ghost_herald_start(void);
/* The ghost ends as it should. */
void hw_ghost_herald_stop(void);

#endif
