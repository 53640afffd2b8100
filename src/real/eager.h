/* SPDX-License-Identifier: BSD-3-Clause */
/* The eager limit is the largest message that the MPI sends without waiting for the receiver. */
#ifndef HW_REAL_EAGER_H
#define HW_REAL_EAGER_H

#include <stdbool.h>
#include <stdint.h>

/* Asks the real MPI (its control variables: MPI-4.1 section 15.3.6, on Open MPI the registry behind them)
 * for the eager limit of its network transport. Returns 0 if it does not tell. After MPI_Init*; one thread.
 */
uint64_t hw_real_eager_limit(void);

/* True where processes out of step send large messages one after the other instead of both at once: Open
 * MPI's put protocol over TCP (doc/adr/0005-judged-by-cost.md). False where it is not known. As above. */
bool hw_real_directions_alternate(void);

#endif
