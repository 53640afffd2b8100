/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the job has messages moved by ghosts: alike in all its processes. Written by the service
 * (ghost/service.c) in MPI_Init* and MPI_Finalize, read by any thread in between. */
#ifndef HW_ENGINES_P2P_SHARED_OPENED_H
#define HW_ENGINES_P2P_SHARED_OPENED_H

#include "base/visibility.h"
#include "engines/p2p/shared/block.h"

#include <stdbool.h>
#include <stdint.h>

enum { HW_P2P_MAGIC_BYTES = 16 };

struct hw_p2p_opened {
    bool is_open;
    bool is_arena_only; /* the kernel does not let the ghost read this process: only memory of the arena,
                           which it has mapped, can be sent */
    struct hw_p2p_block *block;        /* of this user process; NULL in ghosts */
    void *room;                        /* of this ghost, or of the one that serves this process (room.h) */
    uint8_t magic[HW_P2P_MAGIC_BYTES]; /* random; of this job */
    const char *reason;                /* why it is not open; NULL: nobody asked */
    /* Blocks of the node's user processes, by local_index: each may read the memory of each
     * (ghost/neighbours.h). NULL: not so, and near_reason why, for the record. */
    struct hw_p2p_block **neighbours;
    const char *near_reason;
};

extern HW_HIDDEN struct hw_p2p_opened hw_p2p_opened;

#endif
