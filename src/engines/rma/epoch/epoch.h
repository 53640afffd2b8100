/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's epochs on a redirected window (MPI-4.1 sections 12.5.1 to 12.5.4, 12.7).
 *
 * Underneath, the shadow window is in one passive epoch from beginning to end, so that an operation is
 * complete at its target once the ghost was flushed. What is kept here is who may access what, and when: a
 * fence flushes and is a barrier (fence.c); post and complete are empty messages on the window's own
 * communicator (pscw.c); a lock is held at the target's ghost (lock.c). Local loads and stores meet the
 * ghost's at MPI_Win_sync of the shadow window.
 *
 * Any thread of a user process, inside a hook; codes of MPI errors are already raised. */
#ifndef HW_ENGINES_RMA_EPOCH_EPOCH_H
#define HW_ENGINES_RMA_EPOCH_EPOCH_H

#include "base/status.h"
#include "engines/rma/window/window.h"
#include "ghost/channel.h"

int hw_rma_fence(struct hw_rma_window *window, int assertion);
int hw_rma_post(struct hw_rma_window *window, MPI_Group group, int assertion);
int hw_rma_start_access(struct hw_rma_window *window, MPI_Group group, int assertion);
int hw_rma_complete(struct hw_rma_window *window);
int hw_rma_wait(struct hw_rma_window *window);
int hw_rma_test(struct hw_rma_window *window, int *flag);
int hw_rma_lock(struct hw_rma_window *window, int lock_type, int rank, int assertion);
int hw_rma_unlock(struct hw_rma_window *window, int rank);
int hw_rma_lock_all(struct hw_rma_window *window, int assertion);
int hw_rma_unlock_all(struct hw_rma_window *window);
int hw_rma_flush(struct hw_rma_window *window, int rank);
int hw_rma_flush_local(struct hw_rma_window *window, int rank);
int hw_rma_flush_all(struct hw_rma_window *window);
int hw_rma_flush_local_all(struct hw_rma_window *window);
int hw_rma_sync(struct hw_rma_window *window);

/* The same in steps, for targets that are not waited for (deferred/).
 *
 * MPI_Win_start: its targets, valid until the epoch ends; a request for the post of one, and an MPI error
 * that is not raised; it has come. An epoch that could not begin after all. */
int hw_rma_start_begin(struct hw_rma_window *window, MPI_Group group, const int **targets, int *target_count);
int hw_rma_start_expect(const struct hw_rma_window *window, int rank, MPI_Request *request);
void hw_rma_start_opened(struct hw_rma_window *window, int rank);
void hw_rma_start_fail(struct hw_rma_window *window);

/* An exclusive MPI_Win_lock of another process: a request for its grant; it has come. HW_DECLINED: too many
 * are under way, and nothing was done. */
enum hw_status hw_rma_lock_ask(struct hw_rma_window *window, int rank, struct hw_ghost_later *later, int *rc);
void hw_rma_lock_granted(struct hw_rma_window *window, int rank, struct hw_ghost_later *later);

/* MPI_Win_fence with MPI_MODE_NOPRECEDE: a request of a barrier of all members, null if there is none,
 * whatever else failed; they are there. */
int hw_rma_fence_begin(struct hw_rma_window *window, MPI_Request *request);
void hw_rma_fence_opened(struct hw_rma_window *window, int assertion);

/* In MPI_Finalize: closes what the program left open. */
void hw_rma_epochs_end(struct hw_rma_window *window);

#endif
