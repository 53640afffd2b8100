/* Memory that a whole node can map: one sparse file without a name (memfd), of which each user process has a
 * part (shm/arena.h). What MPI_Alloc_mem and redirected windows get lies there, so the ghosts of the node can
 * serve it, and user processes reach each other's. Nothing of it is left when the node's processes are gone,
 * however they ended. doc/adr/0013.
 *
 * A window's memory on a node is made of the pieces of its members there, mapped one behind the other. */
#ifndef HW_ENGINES_RMA_NODE_MEMORY_H
#define HW_ENGINES_RMA_NODE_MEMORY_H

#include "shm/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whole pages of its node. */
struct hw_rma_piece {
    int64_t place; /* in the node's file */
    int64_t bytes;
};

/* The piece in which `bytes` from `place` on lie, on a node with pages of `page_bytes`. */
static inline struct hw_rma_piece hw_rma_piece_of(int64_t place, int64_t bytes, int64_t page_bytes)
{
    int64_t begin = place & ~(page_bytes - 1);
    int64_t end = (place + bytes + page_bytes - 1) & ~(page_bytes - 1);
    return (struct hw_rma_piece){.place = begin, .bytes = bytes > 0 ? end - begin : 0};
}

/* At the start, collective over hw_world.node. In user processes hw_arena_is_open says whether there is one;
 * there is not where an option or the machine is against it, alike at all processes of the node. */
void hw_rma_node_memory_open(void);

/* The pieces one behind the other, and `spare` bytes of zeros behind the last. NULL: not possible, also where
 * they are empty and nothing is spare. */
char *hw_rma_node_memory_map(const struct hw_rma_piece *pieces, int count, size_t spare);

/* With the same pieces and spare bytes. Nothing if `memory` is NULL. */
void hw_rma_node_memory_unmap(char *memory, const struct hw_rma_piece *pieces, int count, size_t spare);

#endif
