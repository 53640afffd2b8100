/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings for targets (papers/003): many MPIs apply one-sided operations in a call of the target's. So an
 * origin tells the target's helper that operations wait, and that wakes the target's progress thread, once
 * until it has looked. Of a target of the own node the word is asked at once, and a second ring is spared as
 * long as the first has no answer.
 *
 * Windows are learnt: where calls that wait return sooner than anybody can be woken, sixteen in a row, the
 * MPI needs no help, and nobody is rung until one takes longer. Threads of a user process, inside a hook. */
#ifndef HW_ENGINES_HELPER_RINGS_H
#define HW_ENGINES_HELPER_RINGS_H

#include "real/real.h"

#include <stdbool.h>
#include <stdint.h>

/* An operation was issued. */
void hw_helper_rings_issued(MPI_Win win, int target, uint64_t bytes);

/* A call that waits for operations is about to begin: for those to TARGET, or to all to which any was issued
 * since the last such call. Returns when it began; 0: it waits for nobody. */
uint64_t hw_helper_rings_wait(MPI_Win win, int target);
enum { HW_HELPER_RINGS_ALL = -1 };

/* A call that waits for TARGET itself, whatever was issued (a lock). */
uint64_t hw_helper_rings_meet(MPI_Win win, int target);

/* It is over. */
void hw_helper_rings_waited(MPI_Win win, uint64_t began_ns);

/* The window is about to be freed. */
void hw_helper_rings_forget(MPI_Win win);

#endif
