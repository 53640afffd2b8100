/* Time in MPI by slices of the run, all of one length: whether a rank has more to compute than others
 * throughout, or now and then, is seen there. The length doubles when the slices are used up. Any thread may
 * add; sums are of all threads. Internal to src/profile. */
#ifndef HW_PROFILE_SLICES_H
#define HW_PROFILE_SLICES_H

#include <stdint.h>
#include <stdio.h>

/* The first slice begins here. */
void hw_slices_begin(uint64_t now_ns);

/* A call that ended at `end_ns`. Calls of one thread come in order, and are kept with it until it makes one
 * in another slice: no lock is taken, and what a thread did last shows when it writes, or not at all. */
void hw_slices_add(uint64_t end_ns, uint64_t took_ns);

/* Writes an object: length of a slice in nanoseconds, and the time in MPI in each up to now. */
void hw_slices_write(FILE *file, uint64_t now_ns);

#endif
