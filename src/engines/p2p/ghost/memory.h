/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of blocks (shared/block.h): each user process makes a sparse file without a name (memfd), and
 * passes it to its ghost. Not from the arena, which is not everywhere (ghost/node_memory.h). Nobody keeps the
 * descriptor, so a program that closes all of them changes nothing. */
#ifndef HW_ENGINES_P2P_GHOST_MEMORY_H
#define HW_ENGINES_P2P_GHOST_MEMORY_H

#include "ghost/pass.h"
#include "shm/file_identity.h"

#include <stdbool.h>
#include <stddef.h>

/* In a user process: zeroed memory for the block; *fd is its file, which the caller closes. NULL: the machine
 * is against it, or has none. */
void *hw_p2p_memory_make(size_t bytes, int *fd);

/* Maps what another process has made. NULL: it cannot. */
void *hw_p2p_memory_map(int fd, size_t bytes);

/* Nothing if `memory` is NULL. */
void hw_p2p_memory_drop(void *memory, size_t bytes);

#endif
