/* SPDX-License-Identifier: BSD-3-Clause */
/* A Put whose arrival is still to be confirmed (doc/adr/0017).
 *
 * Where the end of a flush says too little (hw_rma_needs_confirmation), MPI_Win_flush owes the confirmation,
 * a round trip, instead of waiting for it: nobody can learn that the Put is complete but by what this process
 * does next. Only what goes behind the Put on the same connection may do so before the confirmation is there:
 * another Put, Get or flush that goes to the same ghost, or to the same owner. Every other call of MPI waits
 * for it first (progress/inside.h).
 *
 * In processes in which one thread calls MPI, and only functions of the standard, on TCP, which keeps the
 * order, and on processors that write in order: the ghost's copies meet no barrier between them. That thread,
 * inside a hook. An error in a confirmation that was owed is raised at the window and returned by no call. */
#ifndef HW_ENGINES_RMA_EPOCH_OWED_H
#define HW_ENGINES_RMA_EPOCH_OWED_H

#include "engines/rma/window/route.h"
#include "engines/rma/window/window.h"
#include "progress/inside.h"

/* At the start of a user process. */
void hw_rma_owed_open(void);

/* Whether a flush of this target may owe. */
bool hw_rma_owed_allows(const struct hw_rma_window *window, const struct hw_rma_target *target);

/* After such a flush of what went by ROUTE, the last that it flushed. An MPI error, already raised, where the
 * first one had to be confirmed at once. */
int hw_rma_owe(struct hw_rma_window *window, struct hw_rma_target *target, enum hw_rma_route route);

/* From here on nothing is owed: the program may call MPI in other ways than it began with. */
void hw_rma_owed_stop(void);

/* Waits for the confirmation unless RANK's operations may go behind what is owed. WINDOW may be NULL. */
void hw_rma_owed_go_on(const struct hw_rma_window *window, int rank);

/* The same unless they go to this MEMBER of the shadow window. */
void hw_rma_owed_go_to(int member);

/* Before each operation that may go on. */
static inline void hw_rma_owed_before(const struct hw_rma_window *window, int rank)
{
    if (__builtin_expect(hw_inside_is_owing, 0))
        hw_rma_owed_go_on(window, rank);
}

/* Once such an operation's route is chosen: it may be another than that of the Put. */
static inline void hw_rma_owed_before_going_to(int member)
{
    if (__builtin_expect(hw_inside_is_owing, 0))
        hw_rma_owed_go_to(member);
}

#endif
