/* SPDX-License-Identifier: BSD-3-Clause */
/* How a user process waits in a flush where user processes of its node share cores: asleep (doc/adr/0018).
 *
 * One that polls in MPI_Win_flush for a ghost of another node takes the core from one that computes. There
 * the operations on such a ghost are made with requests of ours, and a flush asks for these first, asleep on
 * the transport's sockets in between. What a flush promises the real one still does, which then finds little
 * left to wait for: a request only says when it is worth calling. Errors are the real flush's, too.
 *
 * Not where the world has MPI_THREAD_MULTIPLE. For the thread that called MPI_Init; what others do goes
 * without requests. Inside a hook. */
#ifndef HW_ENGINES_RMA_EPOCH_FLUSH_WAIT_H
#define HW_ENGINES_RMA_EPOCH_FLUSH_WAIT_H

#include "engines/rma/window/window.h"

/* In a user process, once its node is known; and in MPI_Finalize, when the program's windows are freed and
 * the common one (common.h) is not. */
void hw_rma_flush_wait_open(void);
void hw_rma_flush_wait_close(void);

extern HW_HIDDEN bool hw_rma_flush_wait_is_on;

/* Of all ghosts of a window. */
enum { HW_RMA_EVERY_GHOST = -1 };

MPI_Request *hw_rma_flush_wait_take(const struct hw_rma_window *window, int ghost);
void hw_rma_flush_wait_asleep(const struct hw_rma_window *window, int ghost);

/* Where an operation that was redirected to `ghost`, a rank in the window, is to leave its request; NULL: it
 * is made without one. WINDOW may be NULL: not redirected. Nothing is to be done if the operation fails. */
static inline MPI_Request *hw_rma_flush_wait_place(const struct hw_rma_window *window, int ghost)
{
    if (window == NULL || __builtin_expect(!hw_rma_flush_wait_is_on, 1))
        return NULL;
    return hw_rma_flush_wait_take(window, ghost);
}

/* Before a flush of `ghost`, or of HW_RMA_EVERY_GHOST: until the requests of its operations are complete. */
static inline void hw_rma_flush_wait(const struct hw_rma_window *window, int ghost)
{
    if (__builtin_expect(hw_rma_flush_wait_is_on, 0))
        hw_rma_flush_wait_asleep(window, ghost);
}

#endif
