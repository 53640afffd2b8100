/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators whose collectives ghosts may make: the program's world, and what MPI_Comm_dup and
 * MPI_Comm_dup_with_info made of it. These are collective calls of all processes, which block, so all make
 * them in one order, and each process numbers them alike without a message. Threads of the program, one at a
 * time, inside a hook: there are none at MPI_THREAD_MULTIPLE. */
#ifndef HW_ENGINES_COLL_USER_COMMS_H
#define HW_ENGINES_COLL_USER_COMMS_H

#include "real/real.h"

#include <stdbool.h>
#include <stdint.h>

struct hw_coll_comm {
    bool is_known;
    uint32_t number;   /* if it is known: the same at all members, and no other's */
    uint32_t sequence; /* of the next collective on it that ghosts make: likewise */
};

/* After the service opened. False: no memory. */
bool hw_coll_comms_open(void);
void hw_coll_comms_close(void);

/* NULL: ghosts make no collectives on it; alike at all its members. */
struct hw_coll_comm *hw_coll_comm_of(MPI_Comm comm);

/* As an engine that is asked. */
int hw_coll_comm_dup(MPI_Comm comm, MPI_Comm *newcomm);
int hw_coll_comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm);

#endif
