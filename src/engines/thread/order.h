/* SPDX-License-Identifier: BSD-3-Clause */
/* Learns from large messages whether sends follow receives, and starts receives that were postponed
 * (progress/postponed.h) with the last send of their series. The program's thread, inside a hook. */
#ifndef HW_ENGINES_THREAD_ORDER_H
#define HW_ENGINES_THREAD_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* A post, so long after the one before it. */
void hw_order_posted(bool is_receive, uint64_t since_ns);

/* A call that completes requests returns. */
void hw_order_returned(void);

#endif
