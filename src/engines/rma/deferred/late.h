/* SPDX-License-Identifier: BSD-3-Clause */
/* Targets that were not open when their epoch began, and the operations that wait for them (papers/003
 * section 4.2, doc/adr/0046).
 *
 * A target is *late* from the call that began the epoch until its post, or the grant of its lock, is found to
 * have come; a fence makes all targets late until all members are there. Meanwhile its access is NONE
 * (window/window.h), so no operation can pass. It is *awaited* once an operation came for it: only then the
 * progress thread is asked to look (the paper's late-2). When it is found open its operations are issued, in
 * their order.
 *
 * User processes in which one thread at a time calls MPI: threads of the program, inside a hook, and the
 * progress thread in its turn. All functions lock. */
#ifndef HW_ENGINES_RMA_DEFERRED_LATE_H
#define HW_ENGINES_RMA_DEFERRED_LATE_H

#include "engines/rma/deferred/operation.h"
#include "engines/rma/window/window.h"
#include "ghost/channel.h"

#include <stdbool.h>

enum hw_rma_late_kind { HW_RMA_NOT_LATE, HW_RMA_LATE_POST, HW_RMA_LATE_GRANT };

struct hw_rma_late {
    enum hw_rma_late_kind kind;
    bool is_awaited;
    struct hw_ghost_later grant; /* without its request */
    struct hw_rma_deferred_operation *first, *last;
};

/* Of one window; made with its first late target. */
struct hw_rma_deferred {
    struct hw_rma_window *next; /* with late targets */
    int late_count;             /* those, a fence counted as one */
    MPI_Request *openings;      /* late_count requests, of posts, grants and a fence; room for all targets */
    int *ranks;                 /* whose they are; HW_RMA_LATE_ALL */
    int *indices;               /* room for Testsome */
    bool is_fence_late;
    int fence_assertion;
    int operation_count;
    int error;                  /* the first one of operations that were issued late; MPI_SUCCESS: none */
    struct hw_rma_late lates[]; /* by target */
};

/* In place of a target: all, before a fence is complete. */
enum { HW_RMA_LATE_ALL = -1 };

static inline bool hw_rma_has_late(const struct hw_rma_window *window)
{
    return window->deferred != NULL && window->deferred->late_count > 0;
}

static inline bool hw_rma_is_late(const struct hw_rma_window *window, int rank)
{
    const struct hw_rma_deferred *deferred = window->deferred;
    return hw_rma_has_late(window) &&
           (deferred->is_fence_late || deferred->lates[rank].kind != HW_RMA_NOT_LATE);
}

/* Room for what follows, kept until forget. False: there is no memory. */
bool hw_rma_late_reserve(struct hw_rma_window *window);

/* RANK is late until `later` is complete; HW_RMA_LATE_POST has no tag in it. */
void hw_rma_late_add(struct hw_rma_window *window, int rank, enum hw_rma_late_kind kind,
                     const struct hw_ghost_later *later);
void hw_rma_late_add_fence(struct hw_rma_window *window, MPI_Request barrier, int assertion);

/* Whether any late target has opened: takes a look, without waiting. */
void hw_rma_late_look(struct hw_rma_window *window);
/* At those of all windows; in a call of MPI, or in the progress thread's turn. */
void hw_rma_late_look_in_call(void);
void hw_rma_late_look_in_turn(void);

/* Keeps an operation on a target in the window. False: its target is not late (any more), after a wait where
 * the operation cannot be kept. */
bool hw_rma_late_keep(struct hw_rma_window *window, const struct hw_rma_deferred_operation *operation);

/* Waits for a target, or for all with HW_RMA_LATE_ALL, and issues what is kept for it. */
void hw_rma_late_settle(struct hw_rma_window *window, int rank);
void hw_rma_late_settle_fence(struct hw_rma_window *window);
/* All windows. */
void hw_rma_late_settle_everything(void);

/* Takes the first error of what was issued late; MPI_SUCCESS: none. */
int hw_rma_late_take_error(struct hw_rma_window *window);

/* Before the window is freed: nothing is late. */
void hw_rma_late_forget(struct hw_rma_window *window);

#endif
