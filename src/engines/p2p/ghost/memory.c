/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/memory.h"

#include "ghost/node_memory.h"

#include <sys/mman.h>
#include <unistd.h>

/* A core file would have all of it, holes too. */
void *hw_p2p_memory_map(int fd, size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_DONTDUMP);
    return memory;
}

/* A child of fork has no part in MPI, and must not write here. */
void *hw_p2p_memory_make(size_t bytes, int *fd)
{
    void *memory = NULL;
    *fd = hw_ghost_node_memory_is_safe() ? memfd_create("headway-p2p", MFD_CLOEXEC) : -1;
    if (*fd >= 0 && ftruncate(*fd, (off_t)bytes) == 0)
        memory = hw_p2p_memory_map(*fd, bytes);
    if (memory)
        madvise(memory, bytes, MADV_DONTFORK);
    return memory;
}

void hw_p2p_memory_drop(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}
