/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alloc_mem and MPI_Free_mem (MPI-4.1 section 9.2): where there are ghosts they can reach what is given,
 * so that a window of MPI_Win_create over it can be served. */
#include "mpi/memory.h"
#include "hooks.h"
#include "real/alignment.h"
#include "shm/arena.h"

#include <string.h>

int hw_alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    size_t alignment = hw_arena_is_open && size > 0 && baseptr ? hw_real_alignment_asked(info) : 0;
    void *address = alignment ? hw_arena_take((size_t)size, alignment) : NULL;
    if (address == NULL)
        return hw_real.Alloc_mem(size, info, baseptr);
    memcpy(baseptr, &address, sizeof address);
    return MPI_SUCCESS;
}

bool hw_memory_give(void *base) { return hw_arena_is_open && hw_arena_give(base); }

int hw_free_mem(void *base) { return hw_memory_give(base) ? MPI_SUCCESS : hw_real.Free_mem(base); }
