/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may access what: the state of a window's epochs. Any thread of a user process, inside a hook. */
#ifndef HW_ENGINES_RMA_EPOCH_ACCESS_H
#define HW_ENGINES_RMA_EPOCH_ACCESS_H

#include "base/atomic.h"
#include "engines/rma/window/window.h"

#include <stdbool.h>
#include <stdint.h>

static inline bool hw_rma_is_target(const struct hw_rma_window *window, int rank)
{
    return rank >= 0 && rank < window->size;
}

/* An error of our own messages, which no handler has seen. */
static inline int hw_rma_raise_if(const struct hw_rma_window *window, int rc)
{
    return rc == MPI_SUCCESS ? rc : hw_rma_raise(window, rc);
}

/* enum hw_rma_access */
static inline uint32_t hw_rma_access_of(const struct hw_rma_window *window, int rank)
{
    return hw_atomic_load_relaxed(&window->targets[rank].access);
}

/* Whether the process has locked a target, or all. */
static inline bool hw_rma_is_passive(const struct hw_rma_window *window)
{
    return hw_atomic_load_relaxed(&window->is_lock_all) || hw_atomic_load_relaxed(&window->lock_count) > 0;
}

/* Changes a target's access if it is what it should be. */
bool hw_rma_access_change(struct hw_rma_window *window, int rank, uint32_t from, uint32_t to);

/* Under the window's mutex, after is_fence or is_nocheck_all changed. */
void hw_rma_access_publish(struct hw_rma_window *window);

#endif
