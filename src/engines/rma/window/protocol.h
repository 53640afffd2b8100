/* SPDX-License-Identifier: BSD-3-Clause */
/* What user processes tell the ghosts of windows (ghost/protocol.h): to take part in making and in freeing
 * them. A CREATE is followed by its members, hints and pieces, each with the tag DETAIL. Making and freeing
 * are collective, so whoever begins one holds the gate (ghost/gate.h). */
#ifndef HW_ENGINES_RMA_WINDOW_PROTOCOL_H
#define HW_ENGINES_RMA_WINDOW_PROTOCOL_H

#include "ghost/protocol.h"
#include "real/real.h"

enum hw_rma_tag {
    HW_RMA_TAG_CREATE = 32, /* a command. id, words: take part in making a window */
    HW_RMA_TAG_FREE,        /* a command. id: take part in freeing it */
    HW_RMA_TAG_DETAIL,
    HW_RMA_TAG_GROUP, /* of MPI_Comm_create_group */
    HW_RMA_TAG_NODE_GROUP,
    HW_RMA_TAG_MEET, /* of the members of a window without a communicator of theirs */
    HW_RMA_TAG_BEHIND,
};

/* Words of a CREATE. */
enum {
    HW_RMA_WORD_MEMBERS,    /* how many user processes; 0: all of the world, and no list follows */
    HW_RMA_WORD_HINT_BYTES, /* of the hints that follow */
    HW_RMA_WORD_PIECES,     /* one for each member on the ghost's node; 0: memory is still to be made */
    HW_RMA_WORD_IS_DYNAMIC, /* its memory is the ranges of the ghost's node (ghost/node_memory.h) */
};

/* How user processes and ghosts lay out a node's memory that MPI_Win_allocate_shared gives: in the order of
 * the members, each from a page of its own unless the program itself shares it. (Pieces:
 * ghost/node_memory.h.)
 */
enum { HW_RMA_ALIGNMENT = 4096 };

static inline MPI_Aint hw_rma_round_up(MPI_Aint size)
{
    return (size + HW_RMA_ALIGNMENT - 1) & ~(MPI_Aint)(HW_RMA_ALIGNMENT - 1);
}

#endif
