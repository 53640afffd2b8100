/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry: what each user process tells its helper, in memory that the node shares (papers/003 section
 * 4.1). A *receive* that it has posted (the paper's IRD) stands in a table, a *notice* of a send (the ICD) in
 * a ring. Both are about when to look, never about results: what is overwritten or lost costs a late look.
 *
 * Written by threads of the one user process, one at a time; read by the ghost that serves it. Collective
 * functions are over hw_world.node. */
#ifndef HW_GHOST_REGISTRY_H
#define HW_GHOST_REGISTRY_H

#include "progress/helped.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum { HW_REGISTRY_RECEIVES = 1024, HW_REGISTRY_NOTICES = 256 };

/* MPI_ANY_SOURCE and MPI_ANY_TAG. */
enum { HW_REGISTRY_ANY = -1 };

#define HW_REGISTRY_CLAIMED (UINT64_C(1) << 63)

/* Receive n, counted from 0, is in the table at n % HW_REGISTRY_RECEIVES until a later one takes its place.
 * Relaxed but for number, which is stored last. Whoever matches it with a send claims it. */
struct hw_registry_receive {
    _Atomic uint64_t comm;       /* likeness of the communicator (world/members.h) */
    _Atomic int32_t source, tag; /* rank there; or HW_REGISTRY_ANY */
    _Atomic uint64_t bytes;      /* at most */
    _Atomic uint64_t number;     /* n + 1, and HW_REGISTRY_CLAIMED; 0: being written */
};
static_assert(sizeof(struct hw_registry_receive) == 32, "as the paper's IRD");

enum hw_registry_kind {
    HW_REGISTRY_SEND,    /* to the receiver's helper: a send was posted */
    HW_REGISTRY_MATCHED, /* to the sender's: its receiver has been told, and will answer */
    HW_REGISTRY_RING,    /* to the target's: one-sided operations wait for its progress */
    HW_REGISTRY_END,     /* from helper to helper: the last one */
};

struct hw_registry_notice {
    uint64_t comm;
    int32_t from, to;    /* ranks in hw_world.all: sender and receiver of the message, origin and target */
    int32_t source, tag; /* source: the sender's rank in the communicator */
    uint64_t bytes;
    int32_t kind;    /* enum hw_registry_kind */
    int32_t is_long; /* of a ring: one look at the operations will hardly do */
    uint64_t number; /* of the notice, counted from 0 in the process that gave it */
    uint64_t over;   /* sends that it noted before this one were complete by then */
};

/* Of one user process. */
struct hw_registry {
    struct hw_helped_word word;
    _Atomic uint64_t posted;  /* receives so far; release, after the table */
    _Atomic uint64_t ended;   /* all before this one are over; relaxed */
    _Atomic uint64_t noticed; /* notices so far; release, after the ring */
    _Atomic uint64_t sent;    /* sends that were noticed before this one are over; relaxed */
    char unused_user[32];
    _Atomic uint64_t taken;       /* of these, by the helper, whose are this and the next; release */
    _Atomic uint32_t is_awaiting; /* sends without a receive wait for this process: ring for the next one */
    char unused_helper[52];
    struct hw_registry_receive receives[HW_REGISTRY_RECEIVES];
    struct hw_registry_notice notices[HW_REGISTRY_NOTICES];
};

/* Collective, user processes and ghosts. False, at all of them: the MPI shares no memory. */
bool hw_registry_make(void);
void hw_registry_free(void);

/* In a user process its own; that of a user process of the node, by its rank in hw_world.all. */
struct hw_registry *hw_registry_own(void);
struct hw_registry *hw_registry_of(int process);

/* Threads of the user process, one at a time. True: the helper is to be rung. */
bool hw_registry_post(struct hw_registry *registry, uint64_t comm, int source, int tag, uint64_t bytes);
/* All receives and sends so far are over. */
void hw_registry_end_messages(struct hw_registry *registry);
/* False: the ring is full, and nothing was noted. */
bool hw_registry_notice(struct hw_registry *registry, const struct hw_registry_notice *notice);

/* The helper. False: there is none. */
bool hw_registry_take(struct hw_registry *registry, struct hw_registry_notice *notice);

/* Any process of the node: claims the first receive of the table that may match the send. False: there is
 * none. *first, the caller's own, 0 at first: receives before it are over, or claimed. *receive: which. */
bool hw_registry_claim(struct hw_registry *registry, uint64_t *first, const struct hw_registry_notice *notice,
                       uint64_t *receive);
/* Is a receive that was claimed still to come, and may the send match it? */
bool hw_registry_is_claimed(const struct hw_registry *registry, uint64_t receive,
                            const struct hw_registry_notice *notice);

#endif
