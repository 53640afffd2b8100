/* Windows of MPI_Win_create_dynamic (MPI-4.1 section 12.2.4) whose ghosts serve what they can. Attaching
 * memory is local, so nobody but the target knows what is attached. But the address of an operation says all
 * there is to say: memory of the node's file lies in the range of addresses that its process told
 * (shm/arena.h). What is in the range goes to the ghost, everything else to the MPI's own dynamic window, at
 * all origins alike; so all accumulates on a location take one path. doc/adr/0014.
 *
 * The handle the program holds is the MPI's own dynamic window: attributes, names, handlers and attaching are
 * the MPI's. It is in one passive epoch from beginning to end as the shadow window is, and the program's
 * epochs are ours (epoch.c). Any thread of a user process, inside a hook; codes of MPI errors are already
 * raised. */
#ifndef HW_ENGINES_RMA_WINDOW_DYNAMIC_H
#define HW_ENGINES_RMA_WINDOW_DYNAMIC_H

#include "engines/rma/window/plan.h"
#include "engines/rma/window/window.h"

struct hw_rma_accumulate;

/* What goes to the target itself; the window's `dynamic`. */
struct hw_rma_dynamic;

/* The part of this process in the exchange. */
void hw_rma_dynamic_offer(struct hw_rma_offer *offer);

/* The MPI's window: window->handle and window->dynamic. With a shadow window of its own it is over the
 * communicator of that, since an MPI may take the operations of one window for another's where processes of
 * a window have not been in the same others; collective, with the ghosts. Else over the program's. */
int hw_rma_dynamic_open(struct hw_rma_window *window, const struct hw_rma_plan *plan, MPI_Info hints);

/* Frees it, with the program's callbacks. Collective like hw_rma_dynamic_open. */
int hw_rma_dynamic_free(struct hw_rma_window *window, MPI_Win *handle);

/* Who may be asked for a place at a target, in the order in which pieces of an accumulate are made. */
enum hw_rma_dynamic_owner { HW_RMA_OF_GHOST, HW_RMA_OF_TARGET, HW_RMA_OWNERS };
enum hw_rma_dynamic_owner hw_rma_dynamic_owner(const struct hw_rma_window *window, int target_rank,
                                               MPI_Aint address);

/* A target's rank in the MPI's window. */
static inline int hw_rma_dynamic_rank(const struct hw_rma_window *window, int target_rank)
{
    return window->first_member + target_rank;
}

/* An operation is going to the target itself. */
void hw_rma_dynamic_use(struct hw_rma_window *window, int target_rank, enum hw_rma_class class);

/* Complete at the origin, or at the target too, what went to the targets themselves since the last time. */
int hw_rma_dynamic_flush(struct hw_rma_window *window, int target_rank, bool is_local);
int hw_rma_dynamic_flush_all(struct hw_rma_window *window, bool is_local);

#endif
