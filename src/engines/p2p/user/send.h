/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends that ghosts move: contiguous data of basic datatypes, between nodes, where the receiver's node has
 * room and a cell is free. The program's request is a generalized one: the MPI's own of a small message may
 * be one for all that are complete. Threads of the program, inside a hook. */
#ifndef HW_ENGINES_P2P_USER_SEND_H
#define HW_ENGINES_P2P_USER_SEND_H

#include "engines/engine.h"

/* After the service opened. False: no memory. */
bool hw_p2p_sends_open(uint64_t min_bytes);
/* Waits for all that are under way. */
void hw_p2p_sends_close(void);

typedef int hw_p2p_real_send(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                             MPI_Comm comm, MPI_Request *request);

struct hw_p2p_sent {
    const void *buf;
    MPI_Count count;
    MPI_Datatype datatype;
    int dest, tag;
    MPI_Comm comm;
    hw_p2p_real_send *real; /* of its mode */
};

/* As an engine that is asked. */
int hw_p2p_send(const struct hw_p2p_sent *sent, MPI_Request *request);

/* Sends that were freed while they were active: frees what is over. */
void hw_p2p_sends_look_after(void);

#endif
