/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast the network is that this process sees. Any thread; makes system calls. */
#ifndef HW_BASE_LINK_H
#define HW_BASE_LINK_H

#include <stdint.h>

/* Of the fastest network interface that is up, in bits per second; 0 if one of them does not tell. What a
 * virtual device says of itself is made up: the rate of its token bucket counts (tc), where all that leaves
 * it goes through one. The same as cli/headway/mpi/transport.py finds. */
uint64_t hw_link_bits_per_s(void);

#endif
