/* SPDX-License-Identifier: BSD-3-Clause */
/* The block: memory that a user process and the ghosts of its node share for messages that ghosts move
 * (doc/adr/0044). The user process makes it; its ghost maps it. In it, one behind the other:
 * the header, the queue of sends (shm/queue.h; its word also tells of arrivals), what each receiver has given
 * back, arrivals by sender, and the staging memory, into which the ghost puts what others send to this
 * process.
 *
 * The staging memory is cut into lanes of one length, one for each other user process of the job. The
 * sender's user process says where in its lane a message goes, so it never sends what there is no room for.
 * Places in a lane are counted for ever: byte p is at p % lane bytes, and no message wraps. */
#ifndef HW_ENGINES_P2P_SHARED_BLOCK_H
#define HW_ENGINES_P2P_SHARED_BLOCK_H

#include "base/atomic.h"
#include "base/options.h"
#include "shm/queue.h"
#include "world/world.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HW_P2P_CELLS = 256,
    HW_P2P_ENTRIES = 64, /* of a lane, at most, that the receiver has not given back */
    HW_P2P_LANE_ALIGNMENT = 4096,
    HW_P2P_MESSAGE_ALIGNMENT = 64,
};

struct hw_p2p_block {
    _Atomic uint64_t consumed; /* entries that the user process has given back so far; seq_cst */
    _Atomic uint64_t moved_messages, moved_bytes; /* that this process sent; its ghost, relaxed */
    char unused[40];
};
static_assert(sizeof(struct hw_p2p_block) == 64, "what follows begins on a line");

/* Of a message with gaps, in the sender's memory. */
struct hw_p2p_piece {
    uint64_t address, bytes;
};
static_assert(sizeof(struct hw_p2p_piece) == 16, "both sides read it");

/* What a cell of the queue carries: a message of this process. */
struct hw_p2p_job {
    uint64_t number;         /* of the message, among those of this sender to this receiver; from 0 */
    uint64_t address, bytes; /* in the sender's memory */
    uint64_t begin, end;     /* places in the lane */
    int32_t to;              /* rank in hw_world.all */
    int32_t pieces;          /* 0: the bytes lie in a row; else at `address` is a list of so many pieces */
};
static_assert(sizeof(struct hw_p2p_job) == 48, "both sides read it");

/* What a receiver has given back of its lane of this process. Written by this process's ghost, release, the
 * end first: what the user process reads of it may be old, and is then too little. */
struct hw_p2p_out {
    _Atomic uint64_t freed_end, freed_count;
};
static_assert(sizeof(struct hw_p2p_out) == 16, "both sides read it");

enum hw_p2p_entry_state {
    HW_P2P_ENTRY_FREE,
    HW_P2P_ENTRY_ARRIVED,  /* ghost, release: all of it is in the staging memory */
    HW_P2P_ENTRY_CONSUMED, /* user process, release: it has what it wants of it */
};

/* Message n of a lane is at n % HW_P2P_ENTRIES. */
struct hw_p2p_entry {
    _Atomic uint32_t state; /* enum hw_p2p_entry_state */
    int32_t error;          /* 0; or an errno: what arrived is not the message */
    uint64_t number, bytes, end;
};
static_assert(sizeof(struct hw_p2p_entry) == 32, "both sides read it");

/* Sizes and places, in bytes from the block's begin. PROCESS: rank in hw_world.all of a user process. */

static inline size_t hw_p2p_queue_place(void) { return sizeof(struct hw_p2p_block); }

static inline size_t hw_p2p_out_place(void)
{
    return (hw_p2p_queue_place() + hw_queue_bytes(HW_P2P_CELLS) + 63) / 64 * 64;
}

static inline size_t hw_p2p_entries_place(void)
{
    size_t end = hw_p2p_out_place() + (size_t)hw_world.user_count * sizeof(struct hw_p2p_out);
    return (end + 63) / 64 * 64;
}

static inline size_t hw_p2p_staging_place(void)
{
    size_t end =
        hw_p2p_entries_place() + (size_t)hw_world.user_count * HW_P2P_ENTRIES * sizeof(struct hw_p2p_entry);
    return (end + HW_P2P_LANE_ALIGNMENT - 1) / HW_P2P_LANE_ALIGNMENT * HW_P2P_LANE_ALIGNMENT;
}

/* Of each lane of the process. 0: there is no room for any. */
static inline uint64_t hw_p2p_lane_bytes(int process)
{
    const struct hw_world_node *node = &hw_world.nodes[hw_world.processes[process].node];
    uint64_t users = (uint64_t)(node->process_count - node->ghost_count);
    if (hw_world.user_count < 2)
        return 0;
    uint64_t bytes = (uint64_t)hw_options.staging_bytes / users / (uint64_t)(hw_world.user_count - 1);
    return bytes / HW_P2P_LANE_ALIGNMENT * HW_P2P_LANE_ALIGNMENT;
}

static inline size_t hw_p2p_block_bytes(int process)
{
    return hw_p2p_staging_place() + (size_t)hw_p2p_lane_bytes(process) * (size_t)(hw_world.user_count - 1);
}

/* TO_RANK, FROM_RANK: ranks in the program's world. BLOCK: as it is mapped here. */

static inline struct hw_queue *hw_p2p_queue_of(struct hw_p2p_block *block)
{
    return (struct hw_queue *)((char *)block + hw_p2p_queue_place());
}

static inline struct hw_p2p_out *hw_p2p_out_of(struct hw_p2p_block *block, int to_rank)
{
    return (struct hw_p2p_out *)((char *)block + hw_p2p_out_place()) + to_rank;
}

static inline struct hw_p2p_entry *hw_p2p_entry_of(struct hw_p2p_block *block, int from_rank, uint64_t number)
{
    return (struct hw_p2p_entry *)((char *)block + hw_p2p_entries_place()) +
           (size_t)from_rank * HW_P2P_ENTRIES + number % HW_P2P_ENTRIES;
}

/* Where the message begins, of the block of RECEIVER, a rank in hw_world.all. */
static inline char *hw_p2p_staged(struct hw_p2p_block *block, int receiver, int from_rank, uint64_t begin)
{
    uint64_t bytes = hw_p2p_lane_bytes(receiver);
    int own_rank = hw_world.processes[receiver].user_rank;
    uint64_t lane = (uint64_t)(from_rank > own_rank ? from_rank - 1 : from_rank);
    return (char *)block + hw_p2p_staging_place() + lane * bytes + (bytes ? begin % bytes : 0);
}

#endif
