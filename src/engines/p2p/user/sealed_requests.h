/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of messages on sealed communicators: what doors ask and are told of them (objects/request.h). The
 * program's handle is a generalized request, or where it is persistent one that the MPI never starts. Threads
 * of the program, inside a hook: one at a time for one communicator. */
#ifndef HW_ENGINES_P2P_USER_SEALED_REQUESTS_H
#define HW_ENGINES_P2P_USER_SEALED_REQUESTS_H

#include "engines/p2p/user/hearers.h"
#include "engines/p2p/user/sealed.h"

/* What a request is about; one of the first two at least. */
struct hw_p2p_halves {
    struct hw_p2p_operation *sent, *received;
    MPI_Request real; /* the other half, where it is the MPI's; else null */
    bool is_real_received;
    void *memory; /* is freed with it */
};

/* Takes the operations, which are posted, over. Returns an MPI error code, raised. */
int hw_p2p_sealed_request(MPI_Comm comm, const struct hw_p2p_halves *halves, MPI_Request *request);

/* The same of a call that blocks: waits for their end. */
int hw_p2p_sealed_end(MPI_Comm comm, const struct hw_p2p_halves *halves, MPI_Status *status);

/* A persistent one. `mode`: as in sealed.h. */
int hw_p2p_sealed_persistent(struct hw_p2p_seal *seal, MPI_Comm comm, const struct hw_p2p_part *part,
                             enum hw_p2p_mode mode, MPI_Request *request);

/* A request of the MPI's about a message that ghosts do not move: each start of a persistent one is counted,
 * and a receive that was cancelled is no more. */
void hw_p2p_sealed_count(struct hw_p2p_seal *seal, const struct hw_p2p_part *part, bool is_receive,
                         bool is_persistent, MPI_Request request);

/* Those that were freed while they were active. */
void hw_p2p_sealed_requests_look_after(void);
void hw_p2p_sealed_requests_close(void);

/* Those that are pending tell their errors elsewhere. */
void hw_p2p_sealed_requests_leave(struct hw_p2p_freed *freed);

#endif
