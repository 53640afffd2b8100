/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on sealed communicators (seal.h) that ghosts match and move: what each is about, how it is handed
 * over, and its end. What a ghost cannot read or write where it lies (datatypes with gaps, memory of devices)
 * is packed into memory of ours. Threads of the program, inside a hook: one at a time for one communicator.
 */
#ifndef HW_ENGINES_P2P_USER_SEALED_H
#define HW_ENGINES_P2P_USER_SEALED_H

#include "engines/p2p/shared/sealed.h"
#include "engines/p2p/user/seal.h"
#include "real/real.h"

#include <stdbool.h>
#include <stdint.h>

/* What the program passed. */
struct hw_p2p_part {
    const void *memory;
    MPI_Count count;
    MPI_Datatype type;
    int peer, tag; /* peer: rank in the communicator */
};

enum hw_p2p_mode {
    HW_P2P_STANDARD, /* also of MPI_Rsend: its receive is there */
    HW_P2P_SYNCHRONOUS,
    HW_P2P_BUFFERED, /* ends with the call, as standard ones do that the MPI would send at once */
    HW_P2P_TAKEN,    /* a receive */
};

/* Whether a receive waits for a message that went the MPI's way (doubt.h). */
struct hw_p2p_doubt {
    unsigned looks;   /* since somebody waits */
    uint64_t next_ns; /* when to look next; 0: nobody has waited so far */
    MPI_Count bytes;  /* of the message that the MPI has */
    bool is_asked;    /* it is withdrawn, for that is found */
};

struct hw_p2p_operation {
    struct hw_p2p_part part;
    MPI_Comm comm;
    struct hw_p2p_seal *seal; /* held */
    struct hw_p2p_command command;
    enum hw_p2p_mode mode;
    bool is_type_ours;
    bool is_under_way; /* its ghost has it */
    bool is_released;  /* a send whose memory is the program's again, since there is a copy */
    bool is_orphan;    /* nobody asks for it any more: it frees itself */
    bool is_cancelled, is_delivered;
    struct hw_p2p_doubt doubt; /* of a receive */
    int error;                 /* of the end: an MPI error code, not raised */
    uint64_t moved;            /* bytes of the message */
    void *copy;                /* what ghosts read or write in place of the program's memory; NULL: none */
};

/* After the service opened. */
void hw_p2p_sealed_open(void);
/* Waits for what is under way but copies. */
void hw_p2p_sealed_close(void);

/* Whether ghosts move it. False also for what is wrong: the MPI says so. A wildcard ends the job. */
bool hw_p2p_sealed_is_large(struct hw_p2p_seal *seal, MPI_Comm comm, const struct hw_p2p_part *part,
                            bool is_receive);

/* The same of what is sent or received now: counts it if they do not, where it goes between nodes. */
bool hw_p2p_sealed_concerns(struct hw_p2p_seal *seal, MPI_Comm comm, const struct hw_p2p_part *part,
                            bool is_receive);

/* The MPI has refused a small one that hw_p2p_sealed_concerns counted. */
void hw_p2p_sealed_refused(struct hw_p2p_seal *seal, const struct hw_p2p_part *part, bool is_receive);

/* Whether it comes from, or goes to, another node. */
bool hw_p2p_sealed_is_far(const struct hw_p2p_seal *seal, int peer);

/* Makes the operation, without handing it over. MPI_SUCCESS, or an MPI error code that was raised, and there
 * is none. A persistent one is made once and posted at each start. */
int hw_p2p_operation_make(struct hw_p2p_seal *seal, MPI_Comm comm, const struct hw_p2p_part *part,
                          enum hw_p2p_mode mode, struct hw_p2p_operation **made);
void hw_p2p_operation_post(struct hw_p2p_operation *operation);

/* True: the program may have its end. */
bool hw_p2p_operation_is_over(struct hw_p2p_operation *operation);
void hw_p2p_operation_wait(struct hw_p2p_operation *operation);
/* After its end: puts what was received in its place, and fills the status. Returns an MPI error code, not
 * raised. */
int hw_p2p_operation_finish(struct hw_p2p_operation *operation, MPI_Status *status);
void hw_p2p_operation_fill(const struct hw_p2p_operation *operation, MPI_Status *status);
/* It ends soon, cancelled or not. */
void hw_p2p_operation_cancel(struct hw_p2p_operation *operation);
/* The same, not for the program. */
void hw_p2p_operation_withdraw(const struct hw_p2p_operation *operation);
/* The program is through with it; its ghost need not be. */
void hw_p2p_operation_drop(struct hw_p2p_operation *operation);

/* Its ghost sees from now on what is counted of small messages there, or no more. */
void hw_p2p_sealed_show(const struct hw_p2p_seal *seal, bool is_shown);

/* Raised at the communicator's handler. */
int hw_p2p_sealed_raise(MPI_Comm comm, int error);

/* A question to the ghost, of kind LOOK or CLAIM; waits for the answer, which needs no other process but for
 * LOOK the sender's ghost. bound: LOOK: not 0 where all counts that its sender has posted; CLAIM: how many
 * small ones were received, since one that was sent before it must not be overtaken. */
struct hw_p2p_end hw_p2p_sealed_ask(const struct hw_p2p_seal *seal, enum hw_p2p_command_kind kind, int source,
                                    int tag, uint64_t bound);

#endif
