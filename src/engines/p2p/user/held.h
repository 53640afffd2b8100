/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that were taken from the MPI because a probe found one of a ticket's length, whose true length
 * only its content tells: that one, and all that its sender sent before on the communicator. They come before
 * all that the MPI still has of that sender, so receives and probes look here first. Threads of the program,
 * inside a hook, in their turn (turns.h) from the look until the message is received, matched or told of. */
#ifndef HW_ENGINES_P2P_USER_HELD_H
#define HW_ENGINES_P2P_USER_HELD_H

#include "base/atomic.h"
#include "base/visibility.h"
#include "engines/p2p/user/receive.h"

struct hw_p2p_held;

extern HW_HIDDEN atomic_uint hw_p2p_held_count; /* relaxed; exact in a turn */
static inline bool hw_p2p_held_are_any(void) { return hw_atomic_load_relaxed(&hw_p2p_held_count) > 0; }

/* The first that matches; it is held until it is received or matched. NULL: none. */
struct hw_p2p_held *hw_p2p_held_find(MPI_Comm comm, int source, int tag);

/* The same by the number of a communicator, which the program may have freed since; 0: none is held there. */
uint64_t hw_p2p_held_number_of(MPI_Comm comm);
struct hw_p2p_held *hw_p2p_held_find_by(uint64_t number, int source, int tag);

/* What a probe says of it. */
void hw_p2p_held_tell(const struct hw_p2p_held *held, MPI_Status *status);

/* After a probe of the MPI, in this turn, found a message of a ticket's length with this status: holds it,
 * and what was before. False: no memory. */
bool hw_p2p_held_take(MPI_Comm comm, const MPI_Status *status);
bool hw_p2p_held_is_due(const MPI_Status *status);

/* The program receives it: *request is the MPI's, into the program's buffer, and *envelope what to say of it.
 * Ends `held`. Returns an MPI error code. */
int hw_p2p_held_receive(struct hw_p2p_held *held, void *buf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Request *request, struct hw_p2p_envelope *envelope);

/* The program matches it: *message is the MPI's. Ends `held`. */
int hw_p2p_held_match(struct hw_p2p_held *held, MPI_Message *message);

/* A message that the program has from there: what to say of it, and what is to be over, and freed, when it
 * was received (hw_p2p_receiving_add). False: it is the MPI's own. Needs no turn. */
struct hw_p2p_matched {
    struct hw_p2p_envelope envelope;
    MPI_Request request;
    void *memory;
};
bool hw_p2p_held_matched(MPI_Message message, struct hw_p2p_matched *matched);

#endif
