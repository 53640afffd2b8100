/* SPDX-License-Identifier: BSD-3-Clause */
/* How a ghost waits between two polls. It spins while it has a core of its own and there is traffic. Else, or
 * where it shares its core (more processes than cores, or it is preempted while it spins), it sleeps until a
 * socket of the transport has something or a user process of its node rings, with a timer as a net: a
 * computing user process keeps its core, and a ghost without work takes none. Ghost's only thread. */
#ifndef HW_GHOST_WAIT_H
#define HW_GHOST_WAIT_H

#include <stdbool.h>

void hw_ghost_wait_begin(void);

/* After a poll that found no command; returns when it is time to poll again. True: it slept, or will the next
 * time, so commands must be looked for. */
bool hw_ghost_wait(void);

/* Around calls of MPI that wait for others (making and freeing windows). MPI spins there; a ghost that shares
 * its core would hold it for whole time slices while the process it waits for cannot run. Between these two
 * calls it polls for a moment, then sleeps until there is data, or for a moment too; a signal (SIGURG, to
 * this thread alone) interrupts the spinning. */
void hw_ghost_wait_enter_mpi(void);
void hw_ghost_wait_leave_mpi(void);

/* There was a command. Who sent it waits, perhaps for this core: with nothing else to do it sleeps at once.
 */
void hw_ghost_wait_traffic(void);

#endif
