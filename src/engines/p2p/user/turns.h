/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of the program take turns at what they share, where several may be in MPI at once
 * (MPI_THREAD_MULTIPLE). Elsewhere nothing is locked. */
#ifndef HW_ENGINES_P2P_USER_TURNS_H
#define HW_ENGINES_P2P_USER_TURNS_H

#include "base/atomic.h"
#include "base/visibility.h"

#include <sched.h>
#include <stdbool.h>

/* Several threads may be in MPI at once; for good once it is true. */
extern HW_HIDDEN atomic_bool hw_p2p_turns_taken;
static inline bool hw_p2p_takes_turns(void) { return hw_atomic_load_relaxed(&hw_p2p_turns_taken); }

/* Before such a thread can be. */
static inline void hw_p2p_turns_take(void) { hw_atomic_store_relaxed(&hw_p2p_turns_taken, true); }

/* One lock for numbers and the queue, for held messages, and for each step in which a message is looked for
 * among the held ones and, if it is none of these, a receive is given to the MPI, or taken from it: else a
 * receive waits for a message that another thread's probe has taken. A thread that has it may take it again.
 * It makes no call of MPI that waits for another process. The answer is for the end of the turn. */
void hw_p2p_turn_lock(void);
void hw_p2p_turn_unlock(void);
static inline bool hw_p2p_turn_begin(void)
{
    bool has_begun = __builtin_expect(hw_p2p_takes_turns(), 0);
    if (has_begun)
        hw_p2p_turn_lock();
    return has_begun;
}
static inline void hw_p2p_turn_end(bool has_begun)
{
    if (has_begun)
        hw_p2p_turn_unlock();
}

/* What threads ask about one request, whose state they would write, goes one after the other. */
static inline bool hw_p2p_turn_try(atomic_bool *is_busy)
{
    return !hw_p2p_takes_turns() || !hw_atomic_exchange_acquire(is_busy, true);
}
static inline void hw_p2p_turn_wait(atomic_bool *is_busy)
{
    while (!hw_p2p_turn_try(is_busy))
        sched_yield();
}
static inline void hw_p2p_turn_leave(atomic_bool *is_busy) { hw_atomic_store_release(is_busy, false); }

#endif
