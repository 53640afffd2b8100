/* SPDX-License-Identifier: BSD-3-Clause */
/* Request-based operations that a ghost of this node serves. A large one takes many answers of the ghost, and
 * nothing wakes it between two of them: shared memory has no descriptor to sleep on. So the calls that
 * complete requests tell it that it is awaited, as flushes do.
 *
 * Threads of the program, in a hook. */
#ifndef HW_ENGINES_RMA_OPERATION_REQUESTS_H
#define HW_ENGINES_RMA_OPERATION_REQUESTS_H

#include "base/atomic.h"
#include "base/visibility.h"
#include "ghost/bell.h"

#include <stdint.h>

/* Some are outstanding, as far as is known. */
extern HW_HIDDEN atomic_bool hw_rma_requests_are_near;

/* One was made, and entered in the tracker, at the ghost with this bell. NULL: it is of another node. */
static inline void hw_rma_requests_note(const struct hw_ghost_bell *bell)
{
    if (bell)
        hw_atomic_store_relaxed(&hw_rma_requests_are_near, true);
}

/* Of struct hw_engine. */
void hw_rma_requests_waits(unsigned looked);
void hw_rma_requests_returned(uint64_t blocked_ns, int still_pending);

#endif
