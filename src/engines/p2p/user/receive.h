/* SPDX-License-Identifier: BSD-3-Clause */
/* A receive that may get a ticket: what the program passed, and what became of it. The MPI receives into the
 * program's buffer; where it was a ticket, the data follow from the staging memory, and the status says what
 * the sender sent. Threads of the program, inside a hook, one at a time for
 * each. */
#ifndef HW_ENGINES_P2P_USER_RECEIVE_H
#define HW_ENGINES_P2P_USER_RECEIVE_H

#include "engines/p2p/user/ticket.h"
#include "real/real.h"

#include <stdbool.h>
#include <stdint.h>

enum hw_p2p_phase {
    HW_P2P_OPEN,   /* the MPI has not told what came */
    HW_P2P_PLAIN,  /* no ticket */
    HW_P2P_TICKET, /* the data are to come */
    HW_P2P_DONE,   /* they are where they belong */
};

/* Where the MPI tells of a message that was put back (held.h) what the sender said. */
struct hw_p2p_envelope {
    bool is_there;
    int source, tag;
};

struct hw_p2p_receive {
    uintptr_t memory;
    MPI_Count count;
    MPI_Datatype type; /* ours where it is derived, for the program may free its own */
    uint64_t size;     /* of one */
    bool is_basic, is_ours;
    MPI_Comm comm;   /* null: not known */
    MPI_Comm hearer; /* of errors: comm, or in the place of one that was freed another (hearers.h) */
    enum hw_p2p_phase phase;
    struct hw_p2p_ticket ticket;
    struct hw_p2p_envelope envelope;
    MPI_Status status; /* what the program gets; from PLAIN on, if has_status */
    bool has_status;
    bool is_mute;    /* the MPI's status does not say how long it is: what begins as a ticket is one */
    bool is_fetched; /* within the node: the data are in the buffer, though nobody has asked for them; or: */
    int failed;      /* the errno of that, 0: none */
    int error;       /* from DONE on: MPI_SUCCESS, or what has been raised */
};

/* OUTLASTS: it lives on when the call is over. */
void hw_p2p_receive_begin(struct hw_p2p_receive *receive, uintptr_t memory, MPI_Count count,
                          MPI_Datatype type, MPI_Comm comm, bool outlasts);
void hw_p2p_receive_end(struct hw_p2p_receive *receive);

/* Whether what lies at the buffer's begin is a ticket, if it is all there; `ticket` is it then. */
bool hw_p2p_receive_looks_like_ticket(struct hw_p2p_receive *receive);

/* Before a start: makes a stale ticket none, which no memory of the program's has but such as was never
 * written since it was somebody else's. */
void hw_p2p_receive_spoil(struct hw_p2p_receive *receive);

/* The MPI has completed it, without an error. */
void hw_p2p_receive_land(struct hw_p2p_receive *receive, const MPI_Status *status);

/* Whether the rest needs no wait. */
bool hw_p2p_receive_has_arrived(const struct hw_p2p_receive *receive);

/* Of one that landed: a ticket from the own node is redeemed ahead of `finish`. */
void hw_p2p_receive_fetch(struct hw_p2p_receive *receive);

/* After `land`: the data, and the status. Waits for ghosts if it must. Returns an MPI error code, raised. */
int hw_p2p_receive_finish(struct hw_p2p_receive *receive, MPI_Status *status);

#endif
