/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent sends: each start hands the message over to a ghost, or, where that is not possible at the
 * moment, is the MPI's. The program's request is the MPI's own, which stays inactive while a ghost has the
 * message. Threads of the program, inside a hook. */
#ifndef HW_ENGINES_P2P_USER_PERSISTENT_H
#define HW_ENGINES_P2P_USER_PERSISTENT_H

#include "engines/p2p/user/transfer.h"

/* As an engine that is asked. REAL_INIT: the MPI's call; `sent` has the send of the same mode. */
int hw_p2p_send_init(const struct hw_p2p_sent *sent, hw_p2p_real_send *real_init, MPI_Request *request);

/* Before MPI_Finalize. */
void hw_p2p_persistent_close(void);

#endif
