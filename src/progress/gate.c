/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress/gate.h"

#include "base/atomic.h"
#include "progress/inside.h"
#include "shm/futex.h"

#include <linux/membarrier.h>

/* AWAITED is CLOSED with somebody asleep. FENCED is added to each of the three, for good. */
enum { OPEN, CLOSED, AWAITED, FENCED = 4 };

/* Some microseconds, as a poll takes that moves little; after that it is worth going to sleep. */
enum { SPINS = 200 };

_Atomic uint32_t hw_gate;

static int membarrier(int command) { return (int)syscall(SYS_membarrier, command, 0, 0); }

void hw_gate_prepare(void)
{
    if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0)
        hw_atomic_or_seq_cst(&hw_gate, FENCED);
}

static bool is_closed(uint32_t gate) { return (gate & ~(uint32_t)FENCED) != OPEN; }

static void pause_core(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Who waits says so, and is not taken to be in MPI: where membarrier takes longer than the program computes
 * between two calls, its mark would else end every turn before it begins. */
void hw_gate_wait(void)
{
    bool is_waiting = false;
    for (int spins = 0;; spins++) {
        /* An exchange that changes nothing: an ordering of the mark before it, which a load is not. */
        uint32_t gate = hw_atomic_add_seq_cst(&hw_gate, 0);
        bool was_waiting = is_waiting;
        is_waiting = is_closed(gate);
        if (!was_waiting && !is_waiting)
            return;
        if (was_waiting != is_waiting)
            hw_atomic_store_release(&hw_inside.depth, is_waiting ? HW_INSIDE_WAITS : HW_INSIDE_YES);
        if (!is_waiting) /* marked anew, so to be looked at anew */
            continue;
        if (spins < SPINS) {
            pause_core();
            continue;
        }
        uint32_t awaited = (gate & FENCED) | AWAITED;
        if (gate == awaited || hw_atomic_compare_exchange_seq_cst(&hw_gate, &gate, awaited))
            hw_futex_wait(&hw_gate, awaited, UINT64_MAX);
    }
}

bool hw_gate_close(void)
{
    if (hw_inside_any_in_mpi())
        return false;
    uint32_t open = hw_atomic_load_relaxed(&hw_gate);
    hw_atomic_store_seq_cst(&hw_gate, open | CLOSED);
    bool is_ordered = (open & FENCED) || membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
    if (is_ordered && !hw_inside_any_in_mpi())
        return true;
    hw_gate_open();
    if (!is_ordered) /* forbidden since: from now on entries have their fences */
        hw_atomic_or_seq_cst(&hw_gate, FENCED);
    return false;
}

void hw_gate_open(void)
{
    uint32_t gate = hw_atomic_and_seq_cst(&hw_gate, FENCED);
    if ((gate & AWAITED) != 0)
        hw_futex_wake(&hw_gate, INT32_MAX);
}

void hw_gate_fork_child(void) { hw_atomic_and_seq_cst(&hw_gate, FENCED); }
