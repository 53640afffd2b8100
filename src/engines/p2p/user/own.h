/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user side has for itself: a communicator of this process alone, by which what was taken from the
 * MPI is put back into the program's receives, and the wait for ghosts. Threads of the program. */
#ifndef HW_ENGINES_P2P_USER_OWN_H
#define HW_ENGINES_P2P_USER_OWN_H

#include "engines/p2p/shared/opened.h"
#include "real/real.h"

#include <stdbool.h>

/* After the service opened. False: the MPI refuses. */
bool hw_p2p_own_open(void);
void hw_p2p_own_close(void);

/* Errors on it return. */
MPI_Comm hw_p2p_own_comm(void);
/* Of the next message on it. */
int hw_p2p_own_tag(void);

/* Whether the MPI takes a message of such arguments, sent or received. What it refuses is left to it: it
 * tells the program's handler. Some 50 ns. */
bool hw_p2p_own_accepts(const void *buf, MPI_Count count, MPI_Datatype datatype, int tag);

/* Waits until IS_OVER(of), which a ghost of the node brings about: sleeps where cores are shared, and makes
 * MPI progress now and then. */
void hw_p2p_own_wait(bool (*is_over)(const void *of), const void *of);

/* Between two looks at what ghosts do. */
void hw_p2p_own_pause(void);

#endif
