/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives with a request: what the doors ask and are told of them. Threads of the program, inside a hook. */
#ifndef HW_ENGINES_P2P_USER_RECEIVING_H
#define HW_ENGINES_P2P_USER_RECEIVING_H

#include "engines/p2p/user/hearers.h"
#include "engines/p2p/user/held.h"
#include "engines/p2p/user/receive.h"

/* Room for one, before the real call; NULL: no memory. */
struct hw_p2p_receiving;
struct hw_p2p_receiving *hw_p2p_receiving_make(void);
void hw_p2p_receiving_drop(struct hw_p2p_receiving *receiving);

/* What it is about; where it is persistent, the source and tag of each start, on its communicator, which is
 * valid now. */
struct hw_p2p_receive *hw_p2p_receiving_receive(struct hw_p2p_receiving *receiving);
void hw_p2p_receiving_persists(struct hw_p2p_receiving *receiving, int source, int tag);

/* What else is to be over before it is: the request and the memory of a message that goes to this process
 * itself, or of the sending half. */
void hw_p2p_receiving_add(struct hw_p2p_receiving *receiving, MPI_Request request, void *memory);

void hw_p2p_receiving_attach(struct hw_p2p_receiving *receiving, MPI_Request request);

/* Of a thread that waits for another process of the node: fetches what has a ticket from there, for that one
 * may wait likewise. Not where threads take turns, since another may wait for the same request. */
void hw_p2p_receiving_serve(void);

/* Receives that were freed while they were active. */
void hw_p2p_receiving_look_after(void);

/* Receives that are pending tell their errors elsewhere. */
void hw_p2p_receiving_leave(struct hw_p2p_freed *freed);

#endif
