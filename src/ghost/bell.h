/* SPDX-License-Identifier: BSD-3-Clause */
/* The bell: how a user process wakes a ghost of its own node. Shared memory has no descriptor to sleep on, so
 * a ghost that sleeps says so in a word that its node can read, and an origin that finds it set writes a byte
 * into the ghost's pipe. The pipe has no name, and goes round by descriptor (pass.h): nobody else can find or
 * fill it.
 */
#ifndef HW_GHOST_BELL_H
#define HW_GHOST_BELL_H

#include "base/atomic.h"
#include "base/status.h"
#include "ghost/apply_lock.h"
#include "shm/file_identity.h"

#include <stdbool.h>
#include <stdint.h>

/* In shared memory, one for each ghost of the node. User processes read it, and write what says so. */
struct hw_ghost_bell {
    _Atomic uint32_t is_asleep; /* seq_cst: the ghost looks once more after it said so */
    int32_t descriptor; /* of the ghost's pipe, in the ghost; written once, before the node's barrier */
    _Atomic uint32_t
        waiting; /* user processes write: who is in a flush for it; relaxed: only how soon it polls */
    _Atomic uint32_t is_rung_later; /* since it fell asleep, by ring_later; user processes set, seq_cst */
    _Atomic uint64_t cpu_ns;        /* relaxed; what the ghost took of its core since it began to serve */
    struct hw_file_identity pipe;   /* likewise; 0: no bell */
    _Atomic uint32_t
        posting; /* user processes in the midst of a post for it; relaxed: it leaves them the core */
    char unused[20];
};

/* Likewise of the node: what user processes that leave tell its last ghost (leaver.h). */
struct hw_ghost_leavers {
    _Atomic uint32_t has_some; /* release, after a word */
    _Atomic uint32_t
        words[]; /* by the place of a user process on its node; it and that ghost write, release */
};

/* Likewise: the table of rates.h. */
struct hw_ghost_rates;

/* Collective over hw_world.node: user processes and ghosts. Without memory nobody has bells. The
 * ghosts' locks lie beside them; `is_lock_offered`, of a ghost: it takes its lock wherever it must. */
void hw_ghost_bells_make(bool is_lock_offered);
void hw_ghost_bells_free(void);

/* In a user process: the bell of a ghost of this node, by its index there; NULL: none. */
struct hw_ghost_bell *hw_ghost_bell_of(int ghost_index);
/* That of the ghost that serves the calling process. */
struct hw_ghost_bell *hw_ghost_bell_own(void);
/* The lock of a ghost of this node, in it or in a user process; NULL: it does not take one. */
struct hw_ghost_apply_lock *hw_ghost_apply_lock_of(int ghost_index);

/* NULL: no memory, or MPI has ended. */
struct hw_ghost_leavers *hw_ghost_leavers(void);

/* Likewise; zeros at the start. */
struct hw_ghost_rates *hw_ghost_rates(void);

enum hw_ghost_ring { HW_GHOST_RING_NOW, HW_GHOST_RING_LATER }; /* the byte in the pipe */

void hw_ghost_bell_pull(const struct hw_ghost_bell *bell, enum hw_ghost_ring ring);
static inline void hw_ghost_bell_ring(const struct hw_ghost_bell *bell)
{
    if (bell && __builtin_expect(hw_atomic_load_seq_cst(&((struct hw_ghost_bell *)bell)->is_asleep), 0))
        hw_ghost_bell_pull(bell, HW_GHOST_RING_NOW);
}

/* For what has time until the caller has posted all it wants to post: a ghost that shares the caller's core
 * wakes, and waits for some tens of us before it takes that core. */
static inline void hw_ghost_bell_ring_later(struct hw_ghost_bell *bell)
{
    if (bell && hw_atomic_load_seq_cst(&bell->is_asleep) &&
        hw_atomic_exchange_seq_cst(&bell->is_rung_later, 1) == 0)
        hw_ghost_bell_pull(bell, HW_GHOST_RING_LATER);
}

/* In a user process, around a call that posts and does not wait: a ghost that shares its core stays away.
 * BELL may be NULL. */
static inline void hw_ghost_bell_post_begin(struct hw_ghost_bell *bell)
{
    if (bell)
        hw_atomic_add_relaxed(&bell->posting, 1);
}
static inline void hw_ghost_bell_post_end(struct hw_ghost_bell *bell)
{
    if (bell)
        hw_atomic_sub_relaxed(&bell->posting, 1);
}

/* The caller is about to wait: what was rung for later is due. */
static inline void hw_ghost_bell_hurry(struct hw_ghost_bell *bell)
{
    if (bell && hw_atomic_load_seq_cst(&bell->is_asleep) && hw_atomic_load_seq_cst(&bell->is_rung_later))
        hw_ghost_bell_pull(bell, HW_GHOST_RING_NOW);
}

/* In a user process, around a call that waits for what the ghost has to do. BELL may be NULL. */
static inline void hw_ghost_bell_wait_begin(struct hw_ghost_bell *bell)
{
    if (bell)
        hw_atomic_add_relaxed(&bell->waiting, 1);
    hw_ghost_bell_ring(bell);
}
static inline void hw_ghost_bell_wait_end(struct hw_ghost_bell *bell)
{
    if (bell)
        hw_atomic_add_relaxed(&bell->waiting, UINT32_MAX);
}

/* The same of all ghosts of this node; and rings them. */
void hw_ghost_bells_wait_begin(void);
void hw_ghost_bells_wait_end(void);
void hw_ghost_bells_ring(void);

/* In a ghost: whether a user process of its node waits for it. */
bool hw_ghost_bell_is_awaited(void);

/* In a ghost: the descriptor to sleep on, -1: none; and whether it is about to sleep. */
int hw_ghost_bell_descriptor(void);
void hw_ghost_bell_tell(bool is_asleep);

/* In a ghost that was woken: whether the bell was rung, and only for later. The rings are over then. */
bool hw_ghost_bell_has_time(void);
/* In a ghost: whether a user process of its node is in the midst of a post. */
bool hw_ghost_bell_is_posted_to(void);

/* In a ghost: processor time that it has taken; and what a ghost of the node said last, 0 without bells. */
void hw_ghost_bell_tell_cpu(uint64_t cpu_ns);
uint64_t hw_ghost_bell_cpu_ns(int ghost_index);

#endif
