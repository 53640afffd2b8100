/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that a whole node can map: one sparse file without a name (memfd), of which each user process has a
 * part (shm/arena.h). What MPI_Alloc_mem and redirected windows get lies there, so the ghosts of the node can
 * serve it, and user processes reach each other's. Nothing of it is left when the node's processes are gone,
 * however they ended. doc/adr/0013.
 *
 * A window's memory on a node is made of the pieces of its members there, mapped one behind the other. */
#ifndef HW_GHOST_NODE_MEMORY_H
#define HW_GHOST_NODE_MEMORY_H

#include "shm/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whole pages of its node. */
struct hw_ghost_piece {
    int64_t place; /* in the node's file */
    int64_t bytes;
};

/* The piece in which `bytes` from `place` on lie, on a node with pages of `page_bytes`. */
static inline struct hw_ghost_piece hw_ghost_piece_of(int64_t place, int64_t bytes, int64_t page_bytes)
{
    int64_t begin = place & ~(page_bytes - 1);
    int64_t end = (place + bytes + page_bytes - 1) & ~(page_bytes - 1);
    return (struct hw_ghost_piece){.place = begin, .bytes = bytes > 0 ? end - begin : 0};
}

/* Whether a process may take memory from a file that is not there yet: not where its address space or files
 * are limited, nor where the kernel promises memory only if it has it. */
bool hw_ghost_node_memory_is_safe(void);

/* At the start, collective over hw_world.node. In user processes hw_arena_is_open says whether there is one;
 * there is not where an option or the machine is against it, alike at all processes of the node. */
void hw_ghost_node_memory_open(void);

/* The ranges of the arenas (shm/arena.h) of a node's user processes, in the order of hw_world.node, as every
 * ghost has them mapped from its start to its end: for windows whose memory is known by its addresses alone
 * (engines/rma/window/dynamic.h). Before them is a page of zeros. */
struct hw_ghost_ranges {
    char *memory;
    int64_t bytes; /* of all */
};

/* In ghosts; `bytes` is never 0. */
struct hw_ghost_ranges hw_ghost_node_memory_ranges(void);

/* Whether there are such; alike at all processes of the node. */
bool hw_ghost_node_memory_has_ranges(void);

enum { HW_GHOST_RANGES_FIRST = HW_ARENA_ALIGNMENT };

/* Where the range of a user process begins in them; all of a node are equally long. */
static inline int64_t hw_ghost_range_offset(int local_index, int64_t range_bytes)
{
    return HW_GHOST_RANGES_FIRST + local_index * range_bytes;
}

/* The pieces one behind the other, and `spare` bytes of zeros behind the last. NULL: not possible, also where
 * they are empty and nothing is spare. */
char *hw_ghost_node_memory_map(const struct hw_ghost_piece *pieces, int count, size_t spare);

/* With the same pieces and spare bytes. Nothing if `memory` is NULL. */
void hw_ghost_node_memory_unmap(char *memory, const struct hw_ghost_piece *pieces, int count, size_t spare);

#endif
