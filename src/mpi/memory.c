/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alloc_mem and MPI_Free_mem (MPI-4.1 section 9.2): where there are ghosts they can reach what is given,
 * so that a window of MPI_Win_create over it can be served. */
#include "mpi/memory.h"
#include "hooks.h"
#include "real/constants.h"
#include "shm/arena.h"

#include <stdlib.h>
#include <string.h>

/* What the program asks for with mpi_minimum_memory_alignment; 0: for what no memory has, which is the MPI's
 * to say. Other keys are hints for one MPI or another, which may be ignored (MPI-4.1 chapter 10); ARMCI-MPI
 * gives alloc_shm, which only windows have. */
static size_t alignment_of(MPI_Info info)
{
    char value[32] = "";
    int flag = 0;
    if (info == HW_INFO_NULL)
        return 1;
    if (hw_bottom.Info_get(info, "mpi_minimum_memory_alignment", sizeof value - 1, value, &flag) !=
        MPI_SUCCESS)
        return 0;
    if (!flag)
        return 1;
    char *end;
    unsigned long alignment = strtoul(value, &end, 10);
    return *end == '\0' && alignment > 0 && (alignment & (alignment - 1)) == 0 ? alignment : 0;
}

int hw_alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    size_t alignment = hw_arena_is_open && size > 0 && baseptr ? alignment_of(info) : 0;
    void *address = alignment ? hw_arena_take((size_t)size, alignment) : NULL;
    if (address == NULL)
        return hw_real.Alloc_mem(size, info, baseptr);
    memcpy(baseptr, &address, sizeof address);
    return MPI_SUCCESS;
}

bool hw_memory_give(void *base) { return hw_arena_is_open && hw_arena_give(base); }

int hw_free_mem(void *base) { return hw_memory_give(base) ? MPI_SUCCESS : hw_real.Free_mem(base); }
