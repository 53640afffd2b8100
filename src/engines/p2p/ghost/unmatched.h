/* SPDX-License-Identifier: BSD-3-Clause */
/* A small receive of a large message, on a sealed communicator: the message is the ghosts', the receive the
 * MPI's, and the two never meet. The program has then asserted mpi_assert_exact_length, which is not true:
 * one line says so, and the job ends. doubt.h of the user process is about the opposite. Ghost's only thread.
 */
#ifndef HW_ENGINES_P2P_GHOST_UNMATCHED_H
#define HW_ENGINES_P2P_GHOST_UNMATCHED_H

#include "engines/p2p/ghost/users.h"
#include "engines/p2p/shared/sealed.h"

/* Commands SEALED and UNSEALED. */
void hw_p2p_unmatched_seal(struct hw_p2p_user *user, const struct hw_p2p_command *command);
void hw_p2p_unmatched_unseal(const struct hw_p2p_user *user, const struct hw_p2p_command *command);
void hw_p2p_unmatched_close(void);

/* After all commands were obeyed. Once a second it looks at the messages that no receive was posted for.
 * Where more small receives were posted than small messages were sent before such a message, one of these
 * receives is for it, since MPI matches in order. It does not return if that was so twice. */
void hw_p2p_unmatched_look(void);

#endif
