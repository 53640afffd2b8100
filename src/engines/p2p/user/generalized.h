/* SPDX-License-Identifier: BSD-3-Clause */
/* Generalized requests (MPI-4.1 section 13.2) of messages that ghosts move: the program's handle. What became
 * of the message doors see by the guard (objects/request.h). Threads of the program, inside a hook. */
#ifndef HW_ENGINES_P2P_USER_GENERALIZED_H
#define HW_ENGINES_P2P_USER_GENERALIZED_H

#include "real/real.h"

#include <stdbool.h>

/* Starts one whose status `query` fills. An MPI error code, raised. */
int hw_p2p_generalized_start(int (*query)(void *extra, MPI_Status *status), void *extra,
                             MPI_Request *request);

/* The status of a send. */
void hw_p2p_generalized_tell_sent(MPI_Status *status, bool is_cancelled);

#endif
