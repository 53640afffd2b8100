/* SPDX-License-Identifier: BSD-3-Clause */
/* The block: memory that a user process and its ghost share for messages that ghosts move (doc/adr/0044). The
 * user process makes it; its ghost maps it. In it, one behind the other: the header, the queue of sends
 * (shm/queue.h; its word also tells of arrivals), what belongs to sealed communicators (sealed.h), how many
 * messages each receiver has given back, what credit there is with each ghost (credit.h), and arrivals by
 * sender. The data themselves are in the room of the receiver's ghost (room.h). */
#ifndef HW_ENGINES_P2P_SHARED_BLOCK_H
#define HW_ENGINES_P2P_SHARED_BLOCK_H

#include "base/atomic.h"
#include "engines/p2p/shared/credit.h"
#include "engines/p2p/shared/sealed.h"
#include "shm/queue.h"
#include "world/world.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HW_P2P_CELLS = 256,
    HW_P2P_ENTRIES = 64, /* of one sender, at most, that the receiver has not given back */
};

struct hw_p2p_block {
    _Atomic uint64_t consumed; /* entries that the user process has given back so far; seq_cst */
    _Atomic uint64_t moved_messages, moved_bytes; /* that this process sent; its ghost, relaxed */
    _Atomic uint32_t misses; /* messages for which it asks for credit (credit.h); seq_cst */
    char unused[36];
};
static_assert(sizeof(struct hw_p2p_block) == 64, "what follows begins on a line");

/* Of a message with gaps, in the sender's memory. */
struct hw_p2p_piece {
    uint64_t address, bytes;
};
static_assert(sizeof(struct hw_p2p_piece) == 16, "both sides read it");

enum { HW_P2P_JOB_WITHDRAWN = -1 };

/* What a cell of the queue carries: a message of this process. */
struct hw_p2p_job {
    uint64_t number;         /* of the message, among those of this sender to this receiver; from 0 */
    uint64_t address, bytes; /* in the sender's memory */
    int32_t to;              /* rank in hw_world.all */
    int32_t pieces;          /* 0: the bytes lie in a row; else at `address` is a list of so many pieces;
                                HW_P2P_JOB_WITHDRAWN: nobody will ask for that message, which was moved */
};
static_assert(sizeof(struct hw_p2p_job) == 32, "both sides read it");

/* What a receiver has given back. Written by this process's ghost, release: what the user process reads of it
 * may be old, and is then too little. */
struct hw_p2p_out {
    _Atomic uint64_t freed_count; /* messages: all before this one */
};
static_assert(sizeof(struct hw_p2p_out) == 8, "both sides read it");

enum hw_p2p_entry_state {
    HW_P2P_ENTRY_FREE,
    HW_P2P_ENTRY_ARRIVED,  /* ghost, release: all of it is in the staging memory */
    HW_P2P_ENTRY_CONSUMED, /* user process, release: it has what it wants of it */
    HW_P2P_ENTRY_LEFT,     /* ghost: its units are others'; one before it is not free */
};

/* Message n of a sender is at n % HW_P2P_ENTRIES. */
struct hw_p2p_entry {
    _Atomic uint32_t state; /* enum hw_p2p_entry_state */
    int32_t error;          /* 0; or an errno: what arrived is not the message */
    uint64_t number, bytes;
    uint32_t units, first; /* in the room of the receiver's ghost: how many, the first of them */
};
static_assert(sizeof(struct hw_p2p_entry) == 32, "both sides read it");

/* Sizes and places, in bytes from the block's begin. */

static inline size_t hw_p2p_queue_place(void) { return sizeof(struct hw_p2p_block); }

static inline size_t hw_p2p_sealed_place(void)
{
    return (hw_p2p_queue_place() + hw_queue_bytes(HW_P2P_CELLS) + 63) / 64 * 64;
}

static inline size_t hw_p2p_out_place(void) { return hw_p2p_sealed_place() + sizeof(struct hw_p2p_sealed); }

static inline size_t hw_p2p_credits_place(void)
{
    size_t end = hw_p2p_out_place() + (size_t)hw_world.user_count * sizeof(struct hw_p2p_out);
    return (end + 63) / 64 * 64;
}

static inline size_t hw_p2p_entries_place(void)
{
    size_t end = hw_p2p_credits_place() + (size_t)hw_world.ghost_count * sizeof(struct hw_p2p_credit);
    return (end + 63) / 64 * 64;
}

static inline size_t hw_p2p_block_bytes(void)
{
    return hw_p2p_entries_place() +
           (size_t)hw_world.user_count * HW_P2P_ENTRIES * sizeof(struct hw_p2p_entry);
}

/* TO_RANK, FROM_RANK: ranks in the program's world. BLOCK: as it is mapped here. */

static inline struct hw_queue *hw_p2p_queue_of(struct hw_p2p_block *block)
{
    return (struct hw_queue *)((char *)block + hw_p2p_queue_place());
}

static inline struct hw_p2p_sealed *hw_p2p_sealed_of(struct hw_p2p_block *block)
{
    return (struct hw_p2p_sealed *)((char *)block + hw_p2p_sealed_place());
}

static inline struct hw_p2p_out *hw_p2p_out_of(struct hw_p2p_block *block, int to_rank)
{
    return (struct hw_p2p_out *)((char *)block + hw_p2p_out_place()) + to_rank;
}

/* PLACE: of the ghost that has the room (hw_world_ghost_place). */
static inline struct hw_p2p_credit *hw_p2p_credit_of(struct hw_p2p_block *block, int place)
{
    return (struct hw_p2p_credit *)((char *)block + hw_p2p_credits_place()) + place;
}

static inline struct hw_p2p_entry *hw_p2p_entry_of(struct hw_p2p_block *block, int from_rank, uint64_t number)
{
    return (struct hw_p2p_entry *)((char *)block + hw_p2p_entries_place()) +
           (size_t)from_rank * HW_P2P_ENTRIES + number % HW_P2P_ENTRIES;
}

#endif
