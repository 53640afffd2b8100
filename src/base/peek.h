/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that may not be there, or is another process's: read by the kernel, which does not trap. */
#ifndef HW_BASE_PEEK_H
#define HW_BASE_PEEK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Copies `bytes` from the address `from` of process `pid`, perhaps the caller's own. 0, or an errno: EFAULT
 * if not all of it is there, EPERM if the kernel forbids it. Any thread; 1.6 us for a word. */
int hw_peek(pid_t pid, uintptr_t from, void *to, size_t bytes);

/* Likewise to it; what its process may not write itself is not written. */
int hw_poke(pid_t pid, uintptr_t to, const void *from, size_t bytes);

#endif
