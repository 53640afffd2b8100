/* SPDX-License-Identifier: BSD-3-Clause */
/* The arena gives memory that other processes of the node can map: places in one sparse file of the node, of
 * which each process has a part of its own (MPI-4.1 section 9.2 lets MPI_Alloc_mem give shared memory).
 *
 * A small piece lies with others in a run of units, a larger one in a mapping of its own. What is given back
 * is kept for the next who asks, up to a limit; beyond that the kernel gets it back. A place in the file is
 * used for one mapping in all its life, so who still maps it never sees another's memory.
 *
 * Where there is address space to spare (hw_arena_reserve), addresses and places go together: the first
 * places of the process's part have one range of addresses, so a process that knows the range knows from an
 * address alone whether it is memory of the arena, and its place. What is not taken of the range nobody can
 * access, and nothing else is ever mapped there. Mappings for which it has no room lie where the kernel puts
 * them.
 *
 * As with malloc, what nobody touched costs nothing, and asking for more than the machine has is refused at
 * once. A child of fork(2) gets copies of its own: what it writes nobody else sees, but it sees what others
 * write later into pages it has not written.
 *
 * One for the process. Any thread; not async-signal-safe. */
#ifndef HW_SHM_ARENA_H
#define HW_SHM_ARENA_H

#include "base/status.h"
#include "base/visibility.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Places of mappings in the file are multiples of this, whatever the size of a page is. */
enum { HW_ARENA_ALIGNMENT = 65536 };

/* From now on memory is taken from [first, first + bytes) of the file `fd`, which stays open and must be as
 * long as that already. Once. HW_NOMEM: no handlers of fork. */
enum hw_status hw_arena_open(int fd, int64_t first, int64_t bytes);

/* A range of addresses; `bytes` 0: none. Right below and right above it there is nobody's memory, so what
 * lies in one piece is within it or outside. */
struct hw_arena_range {
    char *base;
    size_t bytes;
};

/* Before anything is taken: gives the places from `first` (hw_arena_open) on a range of that length, a
 * multiple of HW_ARENA_ALIGNMENT. False: the kernel refuses. */
bool hw_arena_reserve(size_t bytes);

/* Undoes it; before anything is taken. */
void hw_arena_unreserve(void);

struct hw_arena_range hw_arena_range(void);

extern HW_HIDDEN bool hw_arena_is_open; /* written by hw_arena_open alone */

/* Memory for `bytes` (> 0), aligned to a power of two, at least to 64. NULL: there is none here; the caller
 * asks somebody else. */
void *hw_arena_take(size_t bytes, size_t alignment);

/* Likewise, and all of it zero, as memory that an MPI maps for a window is. */
void *hw_arena_take_zeroed(size_t bytes, size_t alignment);

/* What hw_arena_take gave. False, and nothing done, for any other address. */
bool hw_arena_give(void *address);

/* The place in the file of memory that lies within one mapping; -1: it does not. */
int64_t hw_arena_find(const void *address, size_t bytes);

#endif
