/* SPDX-License-Identifier: BSD-3-Clause */
/* The OpenMP runtime that the program brought along, if it did: GCC's libgomp, LLVM's and Intel's libomp have
 * the same entry points. Nothing is linked; they are looked up in the process. */
#ifndef HW_TEAM_OPENMP_H
#define HW_TEAM_OPENMP_H

#include <stdbool.h>

/* Entry points by their names without omp_ and GOMP_; signatures as in libgomp 4.9 to 14 and libomp 3.7 on.
 */
struct hw_openmp {
    int (*get_level)(void);       /* enclosing parallel regions */
    int (*get_num_threads)(void); /* of the innermost */
    int (*get_max_threads)(void); /* of the next */
    void (*parallel)(void (*function)(void *), void *data, unsigned threads, unsigned flags);
    void (*task)(void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes, long align,
                 bool is_deferred, unsigned flags, void **depend, int priority, void *detach);
};

/* NULL: there is none, or more than one, so that nobody can tell whose threads are idle, or it has not all of
 * these entry points; the record says so.
 * One that comes later is found later. Any thread. */
const struct hw_openmp *hw_openmp_find(void);

/* For unit tests: in place of what is found. */
void hw_openmp_replace(const struct hw_openmp *openmp);

#endif
