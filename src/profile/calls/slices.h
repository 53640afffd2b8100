/* SPDX-License-Identifier: BSD-3-Clause */
/* Time in MPI by slices of the run, all of one length: whether a rank has more to compute than others
 * throughout, or now and then, is seen there. The length doubles when the slices are used up. Any thread may
 * add; sums are of all threads. Internal to src/profile. */
#ifndef HW_PROFILE_CALLS_SLICES_H
#define HW_PROFILE_CALLS_SLICES_H

#include "profile/record/fields.h"

#include <stdint.h>

/* What a thread has spent in MPI in the slice it is in; added to it when the thread is in another. */
struct hw_slices_share {
    uint64_t until_ns; /* the slice ends here; 0: none yet */
    uint64_t inside_ns;
};

/* The first slice begins here. */
void hw_slices_begin(uint64_t now_ns);

/* The same as hw_slices_add for a call that does not end in the slice the thread is in. */
void hw_slices_enter(struct hw_slices_share *mine, uint64_t end_ns, uint64_t took_ns);

/* A call that ended at `end_ns`. Calls of one thread come in order, and are kept with it until it makes one
 * in another slice: no lock is taken, and what a thread did last shows when it flushes, or not at all. */
static inline void hw_slices_add(struct hw_slices_share *mine, uint64_t end_ns, uint64_t took_ns)
{
    if (__builtin_expect(end_ns < mine->until_ns, 1))
        mine->inside_ns += took_ns;
    else
        hw_slices_enter(mine, end_ns, took_ns);
}

/* Time from one moment to another, of which `ns` in all was none outside MPI after all, spread evenly. Takes
 * the lock itself. */
void hw_slices_spread(uint64_t began_ns, uint64_t ended_ns, uint64_t ns);

/* What the thread has kept is added. Its owner calls. */
void hw_slices_flush(struct hw_slices_share *mine);

/* The slices up to now, for the record; valid until the next call. */
const struct hw_record_slices *hw_slices_describe(uint64_t now_ns);

#endif
