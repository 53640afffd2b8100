/* SPDX-License-Identifier: BSD-3-Clause */
/* Who the members of a communicator are, kept until it is freed (objects/comm_state.h). Threads of a user
 * process, one at a time, inside a hook. */
#ifndef HW_ENGINES_P2P_USER_PEERS_H
#define HW_ENGINES_P2P_USER_PEERS_H

#include "real/real.h"

#include <stdint.h>

/* Rank in hw_world.all of a member. -1: the communicator is an intercommunicator, has members outside of the
 * world, or no such member. */
int hw_p2p_peer(MPI_Comm comm, int rank);

/* Of the communicator as long as it lives, and of no other ever. 0: nobody here can be sent to by ghosts. */
uint64_t hw_p2p_comm_id(MPI_Comm comm);

/* Before MPI_Finalize. */
void hw_p2p_peers_close(void);

#endif
