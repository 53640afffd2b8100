/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock under which accumulates are applied to the memory that one ghost serves: by the ghost, which
 * holds it around every call of MPI in which operations of others may be applied, and by user processes of
 * its node, which apply their own (engines/rma/operation/near_accumulate.h). doc/adr/0010.
 *
 * Nobody spins long: who does not get it soon sleeps, since the holder may wait for this very core. The two
 * kinds of holders make way for each other: the ghost, whose turns follow each other without a pause, lets
 * one waiting user process go first between two of them; the ghost that waits gets the lock from the next
 * who gives it back. A user process that waits keeps making progress, so that what the ghost waits for can
 * never be the user process itself. A holder that died is replaced: its job ends. */
#ifndef HW_GHOST_APPLY_LOCK_H
#define HW_GHOST_APPLY_LOCK_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    HW_GHOST_APPLY_GHOST = 0x3fffffff, /* the ghost holds it */
    HW_GHOST_APPLY_HOLDER =
        0x3fffffff,                  /* mask: 0, nobody; else the place on its node of who holds it, plus 1 */
    HW_GHOST_APPLY_DUE = 0x40000000, /* the ghost waits, and gets it next */
};
#define HW_GHOST_APPLY_WAITED UINT32_C(0x80000000) /* somebody may sleep on `word` */

/* In shared memory, one for each ghost, all of it written by all processes of the node but for is_offered. */
struct hw_ghost_apply_lock {
    _Atomic uint32_t word;            /* acq_rel; user processes sleep on it */
    _Atomic uint32_t wanted;          /* seq_cst: user processes that did not get it at once */
    _Atomic uint32_t news;            /* seq_cst: counts what the ghost sleeps for; it sleeps on it */
    _Atomic uint32_t is_making_way;   /* seq_cst: the ghost sleeps until a user process had its turn */
    _Atomic uint32_t is_ghost_asleep; /* seq_cst: it waits for the lock */
    uint32_t is_offered;              /* the ghost takes it; written once, before the node's barrier */
    char unused[40];
};

/* In a user process. `progress` is called now and then while it waits. Returns what give must be told. */
bool hw_ghost_apply_lock_take_slowly(struct hw_ghost_apply_lock *lock, uint32_t self, void (*progress)(void));
void hw_ghost_apply_lock_give(struct hw_ghost_apply_lock *lock, bool has_waited);
static inline bool hw_ghost_apply_lock_take(struct hw_ghost_apply_lock *lock, uint32_t self,
                                            void (*progress)(void))
{
    uint32_t nobody = 0;
    if (__builtin_expect(hw_atomic_compare_exchange_acq_rel(&lock->word, &nobody, self), 1))
        return false;
    return hw_ghost_apply_lock_take_slowly(lock, self, progress);
}

/* In the ghost. */
void hw_ghost_apply_lock_ghost_take(struct hw_ghost_apply_lock *lock);
void hw_ghost_apply_lock_ghost_give(struct hw_ghost_apply_lock *lock);

#endif
