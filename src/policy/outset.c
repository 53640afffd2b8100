/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/outset.h"

/* Below this the wire time is shorter than what a sleeping thread needs to wake up for it: measured at
 * 1 Gbit/s, and on faster networks still more so. */
#define MIN_BYTES (UINT64_C(128) * 1024)
/* To be followed costs a message 0.1 to 0.2 us, which is little beside so many bytes on any network. */
#define MIN_BYTES_OF_SEVERAL (UINT64_C(64) * 1024)
/* A thread puts processes out of step now and then. Where that makes them take turns, and stay in it, the
 * gain of smaller messages does not make up for it: the heat solver at 1 Gbit/s loses with rows of 128 KiB
 * and gains with 512 (`headway-keep` in doc/results/data/halo.json);
 * between them it broke even at some 160 KiB.
 */
#define MIN_ALTERNATING_BYTES (UINT64_C(192) * 1024)

uint64_t hw_policy_min_bytes(uint64_t eager_bytes, bool takes_turns)
{
    uint64_t least = takes_turns ? MIN_ALTERNATING_BYTES : MIN_BYTES;
    return eager_bytes < least ? least : eager_bytes;
}

uint64_t hw_policy_min_bytes_of_several(uint64_t eager_bytes)
{
    return eager_bytes < MIN_BYTES_OF_SEVERAL ? MIN_BYTES_OF_SEVERAL : eager_bytes;
}

bool hw_policy_are_enough(uint64_t bytes, uint64_t min_bytes) { return bytes >= 2 * min_bytes; }

bool hw_policy_is_crowded(const struct hw_policy_cores *cores)
{
    if (cores->has_ghosts || !cores->is_one_node)
        return false;
    /* Bound to a core of its own, as Open MPI does by itself, a process has none for the thread. */
    if (cores->own_count == 1)
        return true;
    return !cores->has_spare_cores;
}
