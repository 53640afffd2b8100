/* SPDX-License-Identifier: BSD-3-Clause */
/* Large one-sided operations that a ghost of another node serves are under way from the call that makes them
 * until their window is flushed: pending operations of their origin, whose data leave or come only while it
 * makes progress. The ghost makes it for others; the progress thread makes it here.
 *
 * Of a window that no ghost serves nothing is kept: it is an exposure (engines/engine.h), so the thread
 * watches the transport's sockets anyway. Threads of the program, in a hook; WINDOW may be NULL. */
#ifndef HW_ENGINES_RMA_EPOCH_UNDER_WAY_H
#define HW_ENGINES_RMA_EPOCH_UNDER_WAY_H

#include "base/atomic.h"
#include "engines/engine.h"
#include "engines/rma/window/window.h"

/* All targets of a window. */
enum { HW_RMA_UNDER_WAY_EVERY_TARGET = -1 };

void hw_rma_under_way_begin(struct hw_rma_window *window, int target, uint64_t bytes, bool is_get);

/* After an operation on `target` was made, on the window `on`, and went well. */
static inline void hw_rma_under_way_note(struct hw_rma_window *window, MPI_Win on, int target,
                                         MPI_Count count, MPI_Datatype type, bool is_get)
{
    if (__builtin_expect(window == NULL, 1) || !hw_engines_want(count, type))
        return;
    if (on == window->win && (unsigned)target < (unsigned)window->size)
        hw_rma_under_way_begin(window, target, hw_engines_bytes(count, type), is_get);
}

/* What a flush completes. */
struct hw_rma_under_way_held {
    uint32_t count;
    uint64_t entered_ns;
};

void hw_rma_under_way_hold(struct hw_rma_window *window, int target, struct hw_rma_under_way_held *held);
void hw_rma_under_way_end(const struct hw_rma_under_way_held *held);

/* The value of `call`, which completes what is under way to `target`, or to all targets. */
#define HW_RMA_UNDER_WAY_COMPLETED(window, target, call)                                                     \
    ({                                                                                                       \
        struct hw_rma_under_way_held hw_held = {0};                                                          \
        if (__builtin_expect(hw_atomic_load_relaxed(&(window)->under_way) != 0, 0))                          \
            hw_rma_under_way_hold((window), (target), &hw_held);                                             \
        int hw_result = (call);                                                                              \
        if (__builtin_expect(hw_held.count != 0, 0))                                                         \
            hw_rma_under_way_end(&hw_held);                                                                  \
        hw_result;                                                                                           \
    })

#endif
