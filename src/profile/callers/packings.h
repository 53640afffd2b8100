/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of datatypes with gaps by call site, and what packing them was measured to take: by the MPI's way
 * and by ours. The engine that measures says within a call of what class its messages are; the entry, which
 * knows where it was called from, adds them up. Nothing of this runs without a profile. */
#ifndef HW_PROFILE_CALLERS_PACKINGS_H
#define HW_PROFILE_CALLERS_PACKINGS_H

#include "base/atomic.h"
#include "base/visibility.h"
#include "profile/record/fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A class of messages: of like datatypes, a direction and a size. An engine's, for good. What was measured is
 * written once, `tried_bytes` last; 0: nothing yet. */
struct hw_packing_class {
    int64_t type_bytes, type_blocks, type_extent; /* of one datatype */
    bool is_receive;
    atomic_uint_fast64_t mpi_ns,
        headway_ns; /* for `tried_bytes`, ours with what the MPI does of the result */
    atomic_uint_fast64_t tried_bytes;
};

/* The calling thread's messages in its call, one for each direction; NULL: none. */
struct hw_packing_seen {
    const struct hw_packing_class *of;
    int64_t bytes;
    bool is_packed; /* by Headway */
};
enum { HW_PACKING_DIRECTIONS = 2 };
extern HW_HIDDEN _Thread_local struct hw_packing_seen hw_packing_seen[HW_PACKING_DIRECTIONS]
    __attribute__((tls_model("initial-exec")));

/* Before the real call of an entry; in it, by an engine; and after one that succeeded. `site` is as
 * hw_callers_find gives it, `function` and `bytes` are those of the call. Any thread. */
static inline void hw_packings_begin(void)
{
    for (int i = 0; i < HW_PACKING_DIRECTIONS; i++)
        hw_packing_seen[i].of = NULL;
}
static inline void hw_packings_tell(const struct hw_packing_class *of, int64_t bytes, bool is_packed)
{
    hw_packing_seen[of->is_receive] = (struct hw_packing_seen){of, bytes, is_packed};
}
static inline bool hw_packings_are_any(void)
{
    return hw_packing_seen[0].of != NULL || hw_packing_seen[1].of != NULL;
}
void hw_packings_count(const void *site, const char *function, uint64_t bytes);

/* For the record. */
struct hw_record_part hw_packings_describe(void);

#endif
