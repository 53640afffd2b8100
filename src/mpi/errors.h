/* SPDX-License-Identifier: BSD-3-Clause */
/* This file follows the program's error handlers (MPI-4.1 section 9.3): they decide whether the progress
 * thread may ask about its requests.
 *
 * On the MPICH family asking about a request that failed raises its error, at MPI_COMM_WORLD or MPI_COMM_SELF
 * (real/quirks.h), where the program's own completing call raises it at the request's communicator. The
 * thread asks only where nobody can tell: as long as the program has no handler of its own, and the one
 * at MPI_COMM_WORLD or MPI_COMM_SELF returns, or every one is fatal and returns while the thread asks: the
 * program may set another before its completing call. MPICH 5 has another way to ask, which raises nothing
 * (real/real.h). */
#ifndef HW_MPI_ERRORS_H
#define HW_MPI_ERRORS_H

#include "real/real.h"

#include <stdbool.h>

/* With the engine's start: the handlers that the launcher gave. */
void hw_errors_start(void);

/* Whether an error of a persistent receive on COMM is raised as that of any other is, by which handler and
 * with which communicator; as handlers are now. */
bool hw_errors_are_alike(MPI_Comm comm);

#endif
