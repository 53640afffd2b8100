/* SPDX-License-Identifier: BSD-3-Clause */
/* A receive of threshold bytes or more on a sealed communicator waits for its ghost. A message that is
 * smaller than its receive, below the threshold, goes the MPI's way, and the two never meet. The program has
 * then asserted mpi_assert_exact_length, which is not true: one line says so, and the job ends. Threads of
 * the program, one at a time, inside a hook. */
#ifndef HW_ENGINES_P2P_USER_DOUBT_H
#define HW_ENGINES_P2P_USER_DOUBT_H

#include "engines/p2p/user/sealed.h"

/* Of an operation that somebody waits for and that is under way. Looks once a second whether the MPI has a
 * message for it. If so, and all is known that its sender has handed to ghosts so far, the receive is
 * withdrawn. */
void hw_p2p_doubt_look(struct hw_p2p_operation *operation);

/* Of one that was cancelled, so no message of ghosts was for it. Does not return if it was withdrawn. */
void hw_p2p_doubt_confirm(const struct hw_p2p_operation *operation);

#endif
