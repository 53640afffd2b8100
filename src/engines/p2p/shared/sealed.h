/* SPDX-License-Identifier: BSD-3-Clause */
/* What a user process and its ghost tell one another of messages on sealed communicators (doc/adr/0047): part
 * of the block (block.h). Two rings, each with one writer: *commands* of the user process, which its ghost
 * takes out at once, whatever they ask for, and *ends*, by which it answers. So neither waits for what a
 * third process does, however many messages are under way. */
#ifndef HW_ENGINES_P2P_SHARED_SEALED_H
#define HW_ENGINES_P2P_SHARED_SEALED_H

#include "base/atomic.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum { HW_P2P_COMMANDS = 256, HW_P2P_ENDS = 512, HW_P2P_NAME_BYTES = 128 };

enum hw_p2p_command_kind {
    HW_P2P_SEND = 1,
    HW_P2P_RECEIVE,
    HW_P2P_CANCEL_SEND,    /* `operation` is that of the send; it ends some time, cancelled or not */
    HW_P2P_CANCEL_RECEIVE, /* likewise */
    HW_P2P_LOOK,    /* for a message that no receive was posted for; `bytes` is 1 if all that its sender
                       has posted so far is to be known first */
    HW_P2P_CLAIM,   /* the one that was found: no receive but that of CLAIMED gets it */
    HW_P2P_CLAIMED, /* receives it; `before` is what told of it */
    HW_P2P_SEALED,  /* `comm` is sealed; `address` is that of its struct hw_p2p_counts, `peer` this process */
    HW_P2P_UNSEALED, /* that is not read any more */
};

/* A message is known by its communicator, sender, receiver and tag, and among these by its place in order. */
struct hw_p2p_command {
    uint64_t operation;      /* of the user process, which knows its end by it */
    uint64_t comm;           /* what the members agreed on (user/seal.h) */
    uint64_t address, bytes; /* in memory of the user process; of a receive: at most */
    uint64_t before;         /* of a send: smaller messages before it of that sender, receiver and tag */
    int32_t peer;            /* rank in hw_world.all: the receiver of a send, else the sender */
    int32_t tag;
    int32_t kind; /* enum hw_p2p_command_kind */
    int32_t unused[3];
};
static_assert(sizeof(struct hw_p2p_command) == 64, "both sides read it");

enum { HW_P2P_END_CANCELLED = 1, HW_P2P_END_FOUND = 2 };

struct hw_p2p_end {
    uint64_t operation;
    uint64_t bytes;  /* of the message */
    uint64_t before; /* of what LOOK found: as the sender said; of CLAIM: its name */
    int32_t error;   /* 0, or an errno: the memory could not be read, or written */
    uint32_t flags;
};
static_assert(sizeof(struct hw_p2p_end) == 32, "both sides read it");

/* How many messages that ghosts do not move went to, and are to come from, a process with a tag. */
struct hw_p2p_smalls {
    uint64_t key; /* hw_p2p_smalls_key; 0: the place is free */
    uint64_t sent, received;
    uint64_t withdrawn; /* of the received ones, those that the program has cancelled, and not completed */
};

/* A table of them, by linear probing from hw_p2p_smalls_place. In memory of the user process, which alone
 * writes, and moves the table when it grows; its ghost reads (process_vm_readv(2)), and may find a key no
 * more, or a count that is too small. */
struct hw_p2p_counts {
    uint64_t table, room; /* address of the first; a power of two, or 0 */
    char comm_name[HW_P2P_NAME_BYTES];
};

/* PROCESS: the other one's rank in hw_world.all. */
static inline uint64_t hw_p2p_smalls_key(int process, int tag)
{
    return ((uint64_t)(uint32_t)process << 32 | (uint32_t)tag) + 1;
}

static inline uint64_t hw_p2p_smalls_place(uint64_t key, uint64_t room)
{
    return ((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (room - 1);
}

/* A line of the cache for each writer. Numbers count for ever; entry n is at n % length. */
struct hw_p2p_sealed {
    _Atomic uint64_t commanded; /* the user process, seq_cst: it reads next whether its ghost sleeps */
    _Atomic uint64_t heard;     /* ends that it has taken; the user process, release */
    char unused_user[48];
    _Atomic uint64_t obeyed;    /* commands that were taken; its ghost, release */
    _Atomic uint64_t ended;     /* its ghost, release */
    _Atomic uint64_t unclaimed; /* messages to it that no receive was posted for; its ghost, relaxed */
    char unused_ghost[40];
    struct hw_p2p_command commands[HW_P2P_COMMANDS];
    struct hw_p2p_end ends[HW_P2P_ENDS];
};
static_assert(offsetof(struct hw_p2p_sealed, obeyed) == 64 && offsetof(struct hw_p2p_sealed, commands) == 128,
              "both sides map it");

#endif
