/* SPDX-License-Identifier: BSD-3-Clause */
/* A second mapping of shared memory that somebody else has mapped: it stays when the first one goes
 * (mremap(2) with an old size of 0). */
#ifndef HW_SHM_AGAIN_H
#define HW_SHM_AGAIN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static inline size_t hw_shm_again_skew(const void *place)
{
    return (uintptr_t)place % (uintptr_t)sysconf(_SC_PAGESIZE);
}

/* Where the same bytes are too; NULL: the kernel refuses, since the memory is not shared. */
static inline void *hw_shm_map_again(void *place, size_t bytes)
{
    size_t skew = hw_shm_again_skew(place);
    char *again = mremap((char *)place - skew, 0, bytes + skew, MREMAP_MAYMOVE);
    return again == MAP_FAILED ? NULL : again + skew;
}

static inline void hw_shm_unmap_again(void *again, size_t bytes)
{
    size_t skew = hw_shm_again_skew(again);
    munmap((char *)again - skew, bytes + skew);
}

#endif
