/* SPDX-License-Identifier: BSD-3-Clause */
/* Seals. A communicator is sealed when all its members assert that they use no wildcards on it and know exact
 * lengths (MPI-4.1 section 7.4.4), and no message has been on it before. From then on all members know which
 * of its messages ghosts move: those of `min_bytes` and more between nodes, whatever call sends or receives
 * them (doc/adr/0047). It stays sealed to its end. Threads of the program, inside a hook: one at a time on
 * one communicator, since nothing is sealed at MPI_THREAD_MULTIPLE; what communicators share is used in turns
 * (turns.h), for a session may begin later at that level. */
#ifndef HW_ENGINES_P2P_USER_SEAL_H
#define HW_ENGINES_P2P_USER_SEAL_H

#include "base/visibility.h"
#include "engines/p2p/shared/sealed.h"
#include "real/real.h"

#include <stdbool.h>
#include <stdint.h>

/* Of a communicator. */
struct hw_p2p_seal {
    uint64_t id; /* no other communicator of any two of its members has it; 0: it is not sealed */
    uint64_t min_bytes;
    unsigned asserted;    /* bits: what this process has asserted so far */
    bool is_used;         /* a message was sent or received on it, or is to be */
    bool has_ended;       /* its communicator was freed */
    unsigned holders;     /* it outlives its communicator while requests need it */
    int size, *processes; /* of a sealed one: its members, ranks in hw_world.all */
    MPI_Comm comm;
    struct hw_p2p_smalls *smalls; /* a table of counts.room */
    uint32_t smalls_count;
    struct hw_p2p_counts counts; /* what its ghost sees */
};

/* After the service opened: `is_able`: this process may seal; messages of `min_bytes` and more unless a
 * communicator says otherwise. */
void hw_p2p_seals_open(bool is_able, uint64_t min_bytes);
void hw_p2p_seals_close(void);

/* Whether a communicator can be sealed, or used, at all here. */
extern HW_HIDDEN bool hw_p2p_seals_are_open;

/* Of a valid communicator that a message is about to be on. NULL: it is not sealed. */
struct hw_p2p_seal *hw_p2p_seal_for(MPI_Comm comm);

void hw_p2p_seal_hold(struct hw_p2p_seal *seal);
void hw_p2p_seal_release(struct hw_p2p_seal *seal);

/* The counts of a member of another node, by its rank there, and a tag. They move when others are counted.
 * NULL: no memory. */
struct hw_p2p_smalls *hw_p2p_seal_smalls(struct hw_p2p_seal *seal, int peer, int tag);

/* As an engine that is asked. */
int hw_p2p_seal_set_info(MPI_Comm comm, MPI_Info info);
int hw_p2p_seal_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm);
int hw_p2p_seal_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm);

/* The program does on a sealed communicator what it asserted not to do: one line, and the job ends. */
_Noreturn void hw_p2p_seal_broken(MPI_Comm comm, const char *what);

#endif
