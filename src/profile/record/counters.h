/* SPDX-License-Identifier: BSD-3-Clause */
/* What happened in this process, counted; spec/record.toml says what.
 * Written relaxed by any thread, read once for the record. */
#ifndef HW_PROFILE_RECORD_COUNTERS_H
#define HW_PROFILE_RECORD_COUNTERS_H

#include "base/atomic.h"
#include "base/visibility.h"
#include "profile/record/fields.h"

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
    return hw_atomic_load_seq_cst(&hw_counters.tracked_p2p) +
           hw_atomic_load_seq_cst(&hw_counters.tracked_collective) +
           hw_atomic_load_seq_cst(&hw_counters.tracked_rma) +
           hw_atomic_load_seq_cst(&hw_counters.tracked_io) + hw_atomic_load_seq_cst(&hw_counters.started);
}

#define HW_COUNT_ADD(name, amount) hw_atomic_add_relaxed(&hw_counters.name, (uint_fast64_t)(amount))
#define HW_COUNT(name) HW_COUNT_ADD(name, 1)

#endif
