/* SPDX-License-Identifier: BSD-3-Clause */
/* A message that a ghost moves, and its ticket: elements of one basic datatype, in a row or in long blocks,
 * between nodes, where the receiver's node has room and a cell is free. Likewise one within the node, whose
 * receiver reads it (near.h). Threads of the program, inside a hook; one at a time for each, but for
 * cancelling. */
#ifndef HW_ENGINES_P2P_USER_TRANSFER_H
#define HW_ENGINES_P2P_USER_TRANSFER_H

#include "engines/engine.h"
#include "engines/p2p/user/ticket.h"
#include "shm/queue.h"

#include <limits.h>

/* After the service opened. IS_AUTO: where it is worth it. False: no memory. */
bool hw_p2p_transfers_open(uint64_t min_bytes, bool is_auto);
/* Waits for all that were abandoned. */
void hw_p2p_transfers_close(void);

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

struct hw_p2p_transfer {
    struct hw_queue_cell *cell; /* NULL: the buffer is the program's again */
    /* Null: the MPI is done with the ticket. Whoever looks or waits writes it; who cancels reads it. */
    _Atomic(MPI_Request) ticket_request;
    MPI_Request handle; /* of an abandoned one: a generalized request to complete and free, or null */
    struct hw_p2p_transfer *next;
    uint64_t posted_ns, looked_ns, waited_ns; /* for worth.h; 0: nobody wants to know, or it is told */
    struct hw_p2p_piece *pieces;              /* NULL: the bytes lie in a row */
    int error;                                /* the buffer could not be read */
    int to;                                   /* rank in hw_world.all */
    bool is_cancelled;
    bool is_told;        /* send.c */
    uint32_t asked;      /* of one within the node: near.h */
    atomic_bool is_busy; /* turns.h */
    MPI_Comm comm;
    struct hw_p2p_ticket ticket;
};

/* Whether it is no message for ghosts, which is no news. */
bool hw_p2p_transfer_is_small(const struct hw_p2p_sent *sent);

/* Whether ghosts never move it, whatever else is under way, or only sometimes, since it has gaps; the record
 * has the reason then. */
bool hw_p2p_transfer_refuses(const struct hw_p2p_sent *sent);

/* Hands it over. WANTS_ENTRY: hw_request_reserve as well. NULL: nothing was done; the record has the reason.
 */
struct hw_p2p_transfer *hw_p2p_transfer_begin(const struct hw_p2p_sent *sent, bool wants_entry);
/* Before anything else: sends its ticket. Returns an MPI error code, raised; the transfer is ended then, as
 * with HW_P2P_UNTOLD: the MPI has refused it, and returned MPI_SUCCESS (hw_real_hides_refusals). No MPI has
 * such an error code. */
enum { HW_P2P_UNTOLD = INT_MIN };
int hw_p2p_transfer_tell(struct hw_p2p_transfer *transfer, const struct hw_p2p_sent *sent);

bool hw_p2p_transfer_is_over(struct hw_p2p_transfer *transfer);
/* Between two looks at one that has a cell yet. */
void hw_p2p_transfer_pause(const struct hw_p2p_transfer *transfer);
void hw_p2p_transfer_wait(struct hw_p2p_transfer *transfer);
/* The ticket, which the MPI may still have where it waits for a receive. What was handed over ends by itself,
 * and soon. Whether it was cancelled is known when it is over. */
void hw_p2p_transfer_cancel(struct hw_p2p_transfer *transfer);
/* Of one that is over: MPI_SUCCESS; or what is wrong with the buffer, which is raised. */
int hw_p2p_transfer_error(const struct hw_p2p_transfer *transfer);
void hw_p2p_transfer_end(struct hw_p2p_transfer *transfer);

/* Nobody asks for it any more. */
void hw_p2p_transfer_abandon(struct hw_p2p_transfer *transfer, MPI_Request handle);
/* Ends those that are over. */
void hw_p2p_transfers_look_after(void);

#endif
