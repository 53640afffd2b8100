/* SPDX-License-Identifier: BSD-3-Clause */
/* Learns from large messages whether sends follow receives, and starts receives that were postponed
 * (progress/postponed.h): with the last send of their series, or at once where the thread does not come. The
 * program's thread, inside a hook. */
#ifndef HW_ENGINES_THREAD_ORDER_H
#define HW_ENGINES_THREAD_ORDER_H

#include "objects/request.h"

#include <stdbool.h>
#include <stdint.h>

struct hw_order_post {
    enum hw_request_kind kind;
    bool is_receive;
    bool is_for_thread; /* the thread comes for it, woken by sockets */
};

void hw_order_posted(const struct hw_order_post *post);

/* One that is nothing for the thread. */
void hw_order_passed(enum hw_request_kind kind, bool is_receive);

/* A call that completes requests returns. */
void hw_order_returned(void);

/* Smaller messages are not postponed. Before the first post. */
void hw_order_begin(uint64_t least_bytes);

#endif
