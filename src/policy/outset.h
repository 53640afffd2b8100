/* SPDX-License-Identifier: BSD-3-Clause */
/* The outset decides at the start, before anything was measured in this run: from which size messages are
 * worth an agent, and whether there is anything to win at all. Pure. */
#ifndef HW_POLICY_OUTSET_H
#define HW_POLICY_OUTSET_H

#include <stdbool.h>
#include <stdint.h>

/* The smallest message that is worth following, where the MPI sends up to `eager_bytes` without waiting for
 * the receiver (0: not known). `takes_turns`: on this MPI processes out of step send one after the other
 * (hw_real_directions_alternate). */
uint64_t hw_policy_min_bytes(uint64_t eager_bytes, bool takes_turns);

/* The smallest one that is worth following where several are under way at once; and whether so many bytes of
 * several are enough: as much as one message each way that is worth following alone. */
uint64_t hw_policy_min_bytes_of_several(uint64_t eager_bytes);
bool hw_policy_are_enough(uint64_t bytes, uint64_t min_bytes);

/* What is known of the cores of a job. */
struct hw_policy_cores {
    bool is_one_node;
    bool has_ghosts;
    int own_count;        /* cores that this process may use; 0: not known */
    bool has_spare_cores; /* two for each process of the node */
};

/* True where bytes are moved by the program's own cores alone, so that there is no time to win:
 * doc/adr/0012. */
bool hw_policy_is_crowded(const struct hw_policy_cores *cores);

#endif
