/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the user processes that this ghost serves. What is not there ends the job with one line: a
 * program that gives MPI such memory ends with plain MPI, too. Ghost's only thread. */
#ifndef HW_ENGINES_COLL_GHOST_MEMORY_H
#define HW_ENGINES_COLL_GHOST_MEMORY_H

#include <stdint.h>

/* `rank` is one of the program's world. */
void hw_coll_memory_read(int rank, uint64_t address, void *to, uint64_t bytes);
void hw_coll_memory_write(int rank, uint64_t address, const void *from, uint64_t bytes);

#endif
