/* SPDX-License-Identifier: BSD-3-Clause */
/* The gate lets the progress thread and the program take turns in MPI.
 *
 * The progress thread never is inside MPI together with a thread of the program, so MPI needs no locks for
 * its sake: MPI_THREAD_SERIALIZED is enough (doc/adr/0015). The program's side is a store of its mark and a
 * load of the gate (progress/inside.h), without an instruction that orders the two: it is the progress thread
 * that pays, with membarrier(2), after which either sees what the other wrote.
 *
 *     program                          progress thread
 *     mark = INSIDE                    gate = CLOSED
 *     (compiler only)                  membarrier
 *     gate == 0, else wait             no mark INSIDE, else gate = 0, and no turn
 *
 * Who waits changes its mark to WAITS meanwhile, and goes through the whole left side again afterwards.
 * Where the kernel has no membarrier, the gate never is 0, and an entry takes the slow way, with a fence. */
#ifndef HW_PROGRESS_GATE_H
#define HW_PROGRESS_GATE_H

#include "base/atomic.h"
#include "base/visibility.h"

#include <stdbool.h>
#include <stdint.h>

/* 0: open. Entries read it, the functions below write it. */
extern HW_HIDDEN _Atomic uint32_t hw_gate;

/* Before there is a progress thread, and best before the real MPI_Init*: where the process has one thread
 * only, the kernel takes no time for it. */
void hw_gate_prepare(void);

/* What is left of hw_gate_pass where the gate does not read open. */
void hw_gate_wait(void);

/* The mark is set: returns once it is the program's turn. Threads of the program, in an entry. */
static inline void hw_gate_pass(void)
{
    hw_atomic_compiler_fence();
    if (__builtin_expect(hw_atomic_load_acquire(&hw_gate) != 0, 0))
        hw_gate_wait();
}

/* Takes a turn if no thread of the program is inside MPI, and returns whether. The progress thread only: it
 * makes its turn short where hw_inside_any() says that somebody waits. */
bool hw_gate_close(void);

/* Ends the turn. */
void hw_gate_open(void);

/* In a forked child, where no progress thread lives on. */
void hw_gate_fork_child(void);

#endif
