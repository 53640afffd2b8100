/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of MPI where OpenMP threads of the program are idle, or not. For programs that one file makes. */
#ifndef HEADWAY_TESTS_IDLE_THREADS_H
#define HEADWAY_TESTS_IDLE_THREADS_H

#include "check.h"

#include <omp.h>

enum { THREADS = 2 };

/* Between parallel regions, within `single`, and by one thread while the others compute. `work` is done
 * `calls` times in each of the first two places, and once in the last; its argument is new each time. */
static inline void idle_threads_everywhere(void (*work)(unsigned call), unsigned calls)
{
    for (unsigned call = 0; call < calls; call++) {
#pragma omp parallel num_threads(THREADS)
        check_compute(2000);
        work(call);
    }
#pragma omp parallel num_threads(THREADS)
    for (unsigned call = 0; call < calls; call++) {
#pragma omp single
        work(call + calls);
    }
#pragma omp parallel num_threads(THREADS)
    {
        if (omp_get_thread_num() == 0)
            work(2 * calls);
        else
            check_compute(5000);
    }
}

#endif
