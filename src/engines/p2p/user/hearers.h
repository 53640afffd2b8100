/* SPDX-License-Identifier: BSD-3-Clause */
/* Who hears of the errors of operations whose communicator the program frees before they are over: a
 * communicator of this process alone that has its error handler, as it is then; or MPI_COMM_WORLD, where the
 * MPI tells that one (real/quirks.h). Threads of the program. */
#ifndef HW_ENGINES_P2P_USER_HEARERS_H
#define HW_ENGINES_P2P_USER_HEARERS_H

#include "real/real.h"

#include <stdbool.h>

/* A communicator about to be freed. */
struct hw_p2p_freed {
    MPI_Comm comm;
    MPI_Comm hearer;          /* in its place; null: that is not known yet */
    struct hw_p2p_like *like; /* which that is; NULL: MPI_COMM_WORLD */
    bool is_used;             /* some operation has it */
};

/* Before MPI_Comm_free or MPI_Comm_disconnect: tells all operations that are pending. */
void hw_p2p_hearers_comm_frees(MPI_Comm comm);
/* An operation's part: *hearer is whom it tells. Calls no MPI. */
void hw_p2p_hearers_leave(struct hw_p2p_freed *freed, MPI_Comm *hearer);
/* An operation is over whose hearer is not its communicator any more. */
void hw_p2p_hearers_drop(MPI_Comm hearer);
void hw_p2p_hearers_close(void);

#endif
