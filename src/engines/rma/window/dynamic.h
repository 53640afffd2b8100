/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of MPI_Win_create_dynamic (MPI-4.1 section 12.2.4) whose ghosts serve what they can. Attaching
 * memory is local, so nobody but the target knows what is attached. But the address of an operation says all
 * there is to say: memory of the node's file lies in the range of addresses that its process told
 * (shm/arena.h). What is in the range goes to the ghost, everything else to the MPI's own dynamic window, at
 * all origins alike; so all accumulates on a location take one path. doc/adr/0014.
 *
 * The handle the program holds is the MPI's own dynamic window: attributes, names, handlers and attaching are
 * the MPI's. It is in one passive epoch from beginning to end as the shadow window is, and the program's
 * epochs are ours (epoch/epoch.h). Any thread of a user process, inside a hook; codes of MPI errors are
 * already raised. */
#ifndef HW_ENGINES_RMA_WINDOW_DYNAMIC_H
#define HW_ENGINES_RMA_WINDOW_DYNAMIC_H

#include "engines/rma/window/plan.h"
#include "engines/rma/window/window.h"

/* Any thread of this process; relaxed. */
struct hw_rma_dynamic_part {
    MPI_Aint base, bytes;     /* the target's range */
    MPI_Aint landing;         /* address at the target of a byte that is always attached; 0: not needed */
    _Atomic uint32_t dirty;   /* the window's generation at the last operation on the target itself */
    _Atomic uint32_t has_put; /* since the last flush */
};

/* What goes to the target itself; the window's `dynamic`. */
struct hw_rma_dynamic {
    bool is_landing_attached;
    _Atomic uint32_t has_ops, has_unready; /* since the last flush, or local flush, of all targets */
    struct hw_rma_dynamic_part parts[];    /* by rank */
};

/* The part of this process in the exchange. */
void hw_rma_dynamic_offer(struct hw_rma_offer *offer);

/* window->dynamic, by this process alone. False: no memory. */
bool hw_rma_dynamic_make(struct hw_rma_window *window, const struct hw_rma_plan *plan);

/* The MPI's window, window->handle, after hw_rma_dynamic_make. With a shadow window of its own it is over the
 * communicator of that, since an MPI may take the operations of one window for another's where processes of
 * a window have not been in the same others; collective, with the ghosts. Else over the program's. */
int hw_rma_dynamic_open(struct hw_rma_window *window, const struct hw_rma_plan *plan, MPI_Info hints);

/* Frees it, with the program's callbacks. Collective like hw_rma_dynamic_open. */
int hw_rma_dynamic_free(struct hw_rma_window *window, MPI_Win *handle);

/* A target's rank in the MPI's window. */
static inline int hw_rma_dynamic_rank(const struct hw_rma_window *window, int target_rank)
{
    return window->first_member + target_rank;
}

#endif
