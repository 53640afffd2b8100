/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows (of memory) that come and go in quick succession: parking after each would cost the program a
 * wake-up for the next one, up to a fifth of what it takes to make it. */
#ifndef HW_ENGINES_THREAD_SERIES_H
#define HW_ENGINES_THREAD_SERIES_H

#include <stdint.h>

/* The last exposed window was freed. Any thread. */
void hw_series_freed(void);

/* For how long the thread should nap in the place of parking, at most MOST_NS, which grows as the series goes
 * on; 0: the last one was freed long ago. The progress thread. */
uint64_t hw_series_nap_ns(uint64_t most_ns);

#endif
