/* SPDX-License-Identifier: BSD-3-Clause */
/* The first ghost of a node looks now and then whether the user processes of its node are inside MPI
 * (papers/002 section 5.3.1, where each process does it with timers around its calls): it reads their marks
 * in their memory, so that it costs them nothing. Where the kernel forbids that, or a process number means
 * nothing here, their share is not known, and one line says so. Ghost's only thread. */
#ifndef HW_GHOST_SAMPLE_H
#define HW_GHOST_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

/* At the start, in every ghost; it looks if an option asks for it. */
void hw_ghost_sample_begin(void);
void hw_ghost_sample_end(void);

/* In each round, with the ghost's lock held (apply_lock.h): a look if one is due, and an exchange with other
 * nodes (exchange.h). */
void hw_ghost_sample_turn(void);

/* In a sleep, between two naps: a look alone, without MPI. */
void hw_ghost_sample_asleep(void);

/* How long a ghost that has nothing to do may sleep without a look; UINT64_MAX: as long as it wants. */
uint64_t hw_ghost_sample_nap_ns(void);

#endif
