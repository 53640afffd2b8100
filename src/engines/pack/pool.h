/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers for packed messages: powers of two, at most 64 MiB a process together with those that wait to be
 * used again. Any thread; knows no MPI. */
#ifndef HW_ENGINES_PACK_POOL_H
#define HW_ENGINES_PACK_POOL_H

#include <stddef.h>

enum { HW_PACK_POOL_BYTES_MAX = 64 * 1024 * 1024 };

/* At least so many bytes, at the beginning of a cache line. NULL: that would be too much, or there is no
 * memory. */
void *hw_pack_pool_take(size_t bytes);

/* More than the pool may have, as address space of which only what is written takes memory. NULL: none. */
void *hw_pack_pool_reserve(size_t bytes);

/* `bytes` as it was asked for, of either. */
void hw_pack_pool_give(void *buffer, size_t bytes);

/* Returns to the system what waits to be used again. */
void hw_pack_pool_trim(void);

#endif
