/* SPDX-License-Identifier: BSD-3-Clause */
/* A ghost reads what lies in pieces in the memory of a user process, by a list that lies there too. One
 * thread, the ghost's. */
#ifndef HW_ENGINES_P2P_GHOST_GATHER_H
#define HW_ENGINES_P2P_GHOST_GATHER_H

#include <stdint.h>
#include <sys/types.h>

/* Where the next byte is. Zero at the start. */
struct hw_p2p_gather {
    int32_t piece;
    uint64_t within; /* bytes of that piece that were read */
};

/* The next `bytes` of what the list of so many pieces at `address` in process `pid` names. 0, or an errno. */
int hw_p2p_gather_read(struct hw_p2p_gather *gather, pid_t pid, uint64_t address, int32_t pieces, void *to,
                       uint64_t bytes);

#endif
