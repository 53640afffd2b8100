/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/series.h"

#include "base/atomic.h"
#include "base/clock.h"

/* Longer than any MPI takes to make a window. */
#define SERIES_NS (10 * HW_NS_PER_MS)
#define FIRST_NAP_NS (500 * HW_NS_PER_US)

static _Atomic uint64_t freed_ns;

void hw_series_freed(void) { hw_atomic_store_seq_cst(&freed_ns, hw_clock_now_ns()); }

uint64_t hw_series_nap_ns(uint64_t most_ns)
{
    static uint64_t nap_ns = FIRST_NAP_NS; /* progress thread only */
    uint64_t since_ns = hw_atomic_load_seq_cst(&freed_ns);
    if (since_ns == 0 || hw_clock_now_ns() - since_ns > SERIES_NS) {
        nap_ns = FIRST_NAP_NS;
        return 0;
    }
    uint64_t nap = nap_ns;
    if (nap_ns < most_ns)
        nap_ns *= 2;
    return nap;
}
