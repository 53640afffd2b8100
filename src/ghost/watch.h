/* SPDX-License-Identifier: BSD-3-Clause */
/* Notices a ghost that dies. A thread of one user process per node sleeps on the processes of the node's
 * ghosts (pidfd_open(2)); when one ends, and the launcher does not end the job at once, it does, or has
 * services told where the job can do without (service.h). Costs nothing while they live. herald.h says it. */
#ifndef HW_GHOST_WATCH_H
#define HW_GHOST_WATCH_H

/* After the world was split, in user processes. Where the kernel has no pidfd the launcher alone notices. */
void hw_ghost_watch_start(void);
/* Before the ghosts are told to leave. */
void hw_ghost_watch_stop(void);

#endif
