/* SPDX-License-Identifier: BSD-3-Clause */
/* What happened in this process, counted; spec/record.toml says what.
 * Written relaxed by any thread, read once for the record. */
#ifndef HW_PROFILE_RECORD_COUNTERS_H
#define HW_PROFILE_RECORD_COUNTERS_H

#include "base/visibility.h"
#include "profile/record/fields.h"

#include <stdatomic.h>
#include <stdint.h>

struct hw_counters {
#define HW_COUNTER_FIELD(name, meaning) atomic_uint_fast64_t name;
    HW_RECORD_PROCESS_COUNTERS(HW_COUNTER_FIELD)
#undef HW_COUNTER_FIELD
};

extern HW_HIDDEN struct hw_counters hw_counters;

/* Operations followed: each post, and each start of a persistent one. */
static inline uint64_t hw_counters_tracked(void)
{
    return atomic_load(&hw_counters.tracked_p2p) + atomic_load(&hw_counters.tracked_collective) +
           atomic_load(&hw_counters.tracked_rma) + atomic_load(&hw_counters.tracked_io) +
           atomic_load(&hw_counters.started);
}

#define HW_COUNT_ADD(name, amount)                                                                           \
    atomic_fetch_add_explicit(&hw_counters.name, (uint_fast64_t)(amount), memory_order_relaxed)
#define HW_COUNT(name) HW_COUNT_ADD(name, 1)

#endif
