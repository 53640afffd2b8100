/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking sends that ghosts move. The program's request is a generalized one: the MPI's own of a small
 * message may be one for all that are complete. Threads of the program, inside a hook. */
#ifndef HW_ENGINES_P2P_USER_SEND_H
#define HW_ENGINES_P2P_USER_SEND_H

#include "engines/p2p/user/transfer.h"

/* As an engine that is asked. */
int hw_p2p_send(const struct hw_p2p_sent *sent, MPI_Request *request);

#endif
