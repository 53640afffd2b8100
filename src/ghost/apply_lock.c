/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/apply_lock.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "shm/futex.h"
#include "world/world.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>

static_assert(sizeof(struct hw_ghost_apply_lock) == 64, "a cache line of its own");

/* About as long as a poll of the ghost's that finds nothing. */
enum { SPINS = 100 };

/* Between two looks whether the holder still lives, and of a user process two rounds of progress. */
#define NAP_NS HW_NS_PER_MS

/* How long the ghost makes way at most: who waits may have been killed. */
#define WAY_NS (200 * HW_NS_PER_US)

/* A holder is looked for only after this: nobody who lives holds the lock that long but for want of a core.
 */
#define DEAD_AFTER_NS (100 * HW_NS_PER_MS)

static inline void relax(void)
{
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

static uint32_t holder_of(uint32_t word) { return word & HW_GHOST_APPLY_HOLDER; }

/* Only of a user process: without a ghost its user processes end the job (watch.h). */
static bool is_dead(uint32_t holder)
{
    if (holder == 0 || holder == HW_GHOST_APPLY_GHOST || hw_world.node_pids == NULL)
        return false;
    pid_t pid = hw_world.node_pids[holder - 1];
    return pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
}

/* From nobody or from a holder that died, or only to leave a mark; `word`: as last read. */
static bool seize(struct hw_ghost_apply_lock *lock, uint32_t word, uint32_t wanted)
{
    return hw_atomic_compare_exchange_acq_rel(&lock->word, &word, wanted);
}

/* A ghost that is due comes first. */
static bool is_free(uint32_t word, uint64_t since_ns)
{
    if (holder_of(word) == 0)
        return (word & HW_GHOST_APPLY_DUE) == 0;
    return hw_clock_now_ns() - since_ns > DEAD_AFTER_NS && is_dead(holder_of(word));
}

static void wait_for_turn(struct hw_ghost_apply_lock *lock, uint32_t self, void (*progress)(void))
{
    uint64_t since_ns = hw_clock_now_ns(), told_ns = since_ns;
    for (;;) {
        uint32_t word = hw_atomic_load_acquire(&lock->word);
        /* Others may sleep as this process did: whoever comes from here wakes one more. */
        if (is_free(word, since_ns)) {
            if (seize(lock, word, self | HW_GHOST_APPLY_WAITED))
                return;
            continue;
        }
        if ((word & HW_GHOST_APPLY_WAITED) == 0 && !seize(lock, word, word | HW_GHOST_APPLY_WAITED))
            continue;
        hw_futex_wait_shared(&lock->word, word | HW_GHOST_APPLY_WAITED, NAP_NS);
        if (hw_clock_now_ns() - told_ns >= NAP_NS) {
            progress();
            told_ns = hw_clock_now_ns();
        }
    }
}

bool hw_ghost_apply_lock_take_slowly(struct hw_ghost_apply_lock *lock, uint32_t self, void (*progress)(void))
{
    hw_atomic_add_seq_cst(&lock->wanted, 1);
    for (int i = 0; i < SPINS; i++) {
        uint32_t nobody = 0;
        if (hw_atomic_load_relaxed(&lock->word) == 0 &&
            hw_atomic_compare_exchange_acq_rel(&lock->word, &nobody, self))
            return true;
        relax();
    }
    wait_for_turn(lock, self, progress);
    return true;
}

/* Something the ghost may sleep for. */
static void tell_ghost(struct hw_ghost_apply_lock *lock, _Atomic uint32_t *is_asleep)
{
    hw_atomic_add_seq_cst(&lock->news, 1);
    if (hw_atomic_load_seq_cst(is_asleep))
        hw_futex_wake_shared(&lock->news, 1);
}

void hw_ghost_apply_lock_give(struct hw_ghost_apply_lock *lock, bool has_waited)
{
    uint32_t word = hw_atomic_load_relaxed(&lock->word), next;
    do
        next = word & HW_GHOST_APPLY_DUE ? HW_GHOST_APPLY_GHOST | (word & HW_GHOST_APPLY_WAITED) : 0;
    while (!hw_atomic_compare_exchange_acq_rel(&lock->word, &word, next));
    if (word & HW_GHOST_APPLY_DUE)
        tell_ghost(lock, &lock->is_ghost_asleep);
    else if (word & HW_GHOST_APPLY_WAITED)
        hw_futex_wake_shared(&lock->word, 1);
    if (has_waited) {
        hw_atomic_sub_seq_cst(&lock->wanted, 1);
        tell_ghost(lock, &lock->is_making_way);
    }
}

/* Until a user process that waited has had the lock. */
static void make_way(struct hw_ghost_apply_lock *lock)
{
    uint32_t news = hw_atomic_load_seq_cst(&lock->news);
    if (hw_atomic_load_seq_cst(&lock->wanted) == 0)
        return;
    for (int i = 0; i < SPINS; i++) {
        if (hw_atomic_load_relaxed(&lock->news) != news || hw_atomic_load_relaxed(&lock->wanted) == 0)
            return;
        relax();
    }
    hw_atomic_store_seq_cst(&lock->is_making_way, 1);
    if (hw_atomic_load_seq_cst(&lock->wanted) > 0)
        hw_futex_wait_shared(&lock->news, news, WAY_NS);
    hw_atomic_store_seq_cst(&lock->is_making_way, 0);
}

static void wait_until_due(struct hw_ghost_apply_lock *lock)
{
    uint64_t since_ns = hw_clock_now_ns();
    hw_atomic_store_seq_cst(&lock->is_ghost_asleep, 1);
    for (;;) {
        uint32_t news = hw_atomic_load_seq_cst(&lock->news);
        uint32_t word = hw_atomic_or_seq_cst(&lock->word, HW_GHOST_APPLY_DUE) | HW_GHOST_APPLY_DUE;
        uint32_t holder = holder_of(word);
        if (holder == HW_GHOST_APPLY_GHOST)
            break;
        bool is_broken = hw_clock_now_ns() - since_ns > DEAD_AFTER_NS && is_dead(holder);
        if (holder != 0 && !is_broken)
            hw_futex_wait_shared(&lock->news, news, NAP_NS);
        else if (seize(lock, word, HW_GHOST_APPLY_GHOST | (word & HW_GHOST_APPLY_WAITED)))
            break;
    }
    hw_atomic_store_seq_cst(&lock->is_ghost_asleep, 0);
}

void hw_ghost_apply_lock_ghost_take(struct hw_ghost_apply_lock *lock)
{
    make_way(lock);
    for (int i = 0; i < SPINS; i++) {
        uint32_t nobody = 0;
        if (hw_atomic_load_relaxed(&lock->word) == 0 &&
            hw_atomic_compare_exchange_acq_rel(&lock->word, &nobody, HW_GHOST_APPLY_GHOST))
            return;
        relax();
    }
    wait_until_due(lock);
}

void hw_ghost_apply_lock_ghost_give(struct hw_ghost_apply_lock *lock)
{
    if (hw_atomic_exchange_acq_rel(&lock->word, 0) & HW_GHOST_APPLY_WAITED)
        hw_futex_wake_shared(&lock->word, 1);
}
