/* SPDX-License-Identifier: BSD-3-Clause */
/* Where idle OpenMP threads may be found just now, and whether it has been worth it to ask them. Any thread.
 */
#ifndef HW_TEAM_IDLE_H
#define HW_TEAM_IDLE_H

#include "team/openmp.h"

#include <stdbool.h>
#include <stdint.h>

enum hw_idle_place {
    HW_IDLE_NOWHERE,
    HW_IDLE_REGION, /* in the pool, between parallel regions of the program */
    HW_IDLE_TASKS,  /* in the caller's own parallel region, where they wait or will */
    HW_IDLE_PLACES
};

/* Notes which threads the process has: those that come later may be a pool's. Once, after MPI's own have
 * come.
 */
void hw_idle_begin(void);

/* `openmp` may be NULL. A region is only for the thread that the program began with, whose pool it is, and
 * once other threads of the process have computed: else it would make threads that the program never had.
 * The pool must be what a region of ours asks for, since a smaller one may end the others, with their
 * threadprivate data: so many threads, no more and no less, must have come since hw_idle_begin.
 * Nowhere, for a number of calls, where nobody came the last times. */
enum hw_idle_place hw_idle_place(const struct hw_openmp *openmp);

/* Whether a region would have more threads than the process may use processors, or more threads want to run
 * than the machine has: then a region, which waits for all of its threads, may wait for one that has no core.
 * Some 5 us. */
bool hw_idle_is_crowded(void);

/* How many pieces others took. */
void hw_idle_learn(enum hw_idle_place place, uint32_t pieces);

/* How long the caller waited for a piece that another had begun. */
void hw_idle_waited(enum hw_idle_place place, uint64_t waited_ns);

/* Nobody is asked there any more. */
void hw_idle_give_up(enum hw_idle_place place);

/* Of this process; a number that differs when it differs. A region that changes it has made threads that the
 * program had not, or ended some that it would use again. */
uint64_t hw_idle_count_threads(void);

#endif
