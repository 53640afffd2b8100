/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that an MPI hands to their receive in parts.
 *
 * MPICH 5 does so with what a process sends to itself, and within a node where it does not copy from process
 * to process (cross-memory attach, CMA): each part is unpacked by itself, and one that ends within an element
 * is lost, or ends the job, plain too, if the message was sent without the gaps that its receive has
 * (tests/mpi/packed_mixtures.c). MPICH 4.0 is worse (real/quirks.h). Other messages come whole. */
#ifndef HW_REAL_PARTS_H
#define HW_REAL_PARTS_H

#include "real/real.h"

#include <stdbool.h>
#include <stdint.h>

/* Before the first question, after MPI_Init*; one thread. */
void hw_real_parts_find(void);

/* Whether so many bytes that are sent to the rank `peer` of `comm`, as contiguous memory, are known to come
 * whole, or in parts that end between elements of up to HW_REAL_WHOLE_PART_BYTES alone. Any thread, inside
 * MPI; looks only at this process. */
bool hw_real_comes_whole(MPI_Comm comm, int peer, uint64_t bytes);

enum { HW_REAL_WHOLE_PART_BYTES = 8 };

/* True where a receive with gaps may take time and memory for all that it has room for, however little comes:
 * MPICH 5 copies what was sent without gaps from process to process by a list of all blocks that were posted.
 * Room for 900 MB takes 0.6 s a message and 18 GB ends the job, plain too if the program packs what it sends.
 * Any thread; looks only at this process. */
bool hw_real_lists_posted_blocks(void);

#endif
