/* SPDX-License-Identifier: BSD-3-Clause */
/* The user processes that a ghost serves, as it sees them: their blocks, and their memory, which it reads
 * where it lies (process_vm_readv(2)) or has mapped (the arena). Ghost's only thread. */
#ifndef HW_ENGINES_P2P_GHOST_USERS_H
#define HW_ENGINES_P2P_GHOST_USERS_H

#include "engines/p2p/ghost/purse.h"
#include "engines/p2p/shared/block.h"
#include "ghost/pass.h"
#include "ghost/reach.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Of a sender to a user process. */
struct hw_p2p_lane {
    uint64_t freed;       /* messages that the user process has given back: all before this one */
    uint32_t arrived;     /* those that have arrived since */
    uint32_t units, back; /* of messages that have left, and what of it is the sender's: not told yet */
    bool is_owed;         /* it is to be told */
};

/* Notes about credits of one ghost's room that could not be sent yet. */
struct hw_p2p_debt {
    uint32_t asked, returned;
};

struct hw_p2p_user {
    int process; /* rank in hw_world.all */
    pid_t pid;
    struct hw_p2p_block *block;
    struct hw_queue_consumer jobs;
    uint64_t arena_base, arena_bytes; /* there; 0 bytes: it is not mapped here */
    const char *arena;                /* here */
    uint64_t consumed;                /* what block->consumed was */
    uint32_t misses;                  /* what block->misses was */
    bool owes_freed, owes_notes;      /* a lane does, a debt is there */
    struct hw_p2p_lane *lanes;        /* by the sender's rank in the program's world */
    struct hw_p2p_purse *purses;      /* by the place of the ghost that has the room */
    struct hw_p2p_debt *debts;        /* likewise */
};

/* What the processes of a node tell one another. */
struct hw_p2p_introduction {
    struct hw_ghost_peer address; /* where files can be sent to */
    struct hw_file_identity file; /* of a user process's block, or a ghost's room; 0: it declines */
    int64_t descriptor, bytes;    /* of that file, there; its length */
    uint64_t arena_base, arena_bytes;
    struct hw_ghost_proof proof;
};

/* Before the first is added; false: no memory. */
bool hw_p2p_users_make(void);
/* BLOCK is mapped here. NULL: no memory, or the block has another layout. */
struct hw_p2p_user *hw_p2p_users_add(int process, pid_t pid, struct hw_p2p_block *block);

/* Makes them, and adds all that this ghost serves, with the blocks that have come to the socket. ALL: of the
 * processes of the node in the order of hw_world.node. False: one cannot be served. */
bool hw_p2p_users_take(const struct hw_p2p_introduction *all, int socket_fd);
void hw_p2p_users_drop(void);

int hw_p2p_user_count(void);
struct hw_p2p_user *hw_p2p_user_at(int index);
/* NULL: another ghost's. */
struct hw_p2p_user *hw_p2p_user_of(int process);

/* Where its memory lies here. NULL: it must be read. */
const char *hw_p2p_user_memory(const struct hw_p2p_user *user, uint64_t address, uint64_t bytes);

/* 0, or an errno. */
int hw_p2p_user_read(const struct hw_p2p_user *user, uint64_t address, void *to, uint64_t bytes);
int hw_p2p_user_write(const struct hw_p2p_user *user, uint64_t address, const void *from, uint64_t bytes);

#endif
