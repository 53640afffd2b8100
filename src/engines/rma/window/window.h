/* A redirected window, as a user process knows it, and the step every operation takes. */
#ifndef HW_ENGINES_RMA_WINDOW_WINDOW_H
#define HW_ENGINES_RMA_WINDOW_WINDOW_H

#include "base/atomic.h"
#include "base/visibility.h"
#include "engines/rma/window/comms.h"
#include "engines/rma/window/protocol.h"
#include "ghost/apply_lock.h"
#include "ghost/bell.h"
#include "ghost/node_memory.h"
#include "real/constants.h"
#include "real/real.h"

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* How the calling process may access a target. Below ACCESS_LOCK_ALL: by what opened it for this target
 * alone. */
enum hw_rma_access {
    HW_RMA_ACCESS_NONE,
    HW_RMA_ACCESS_SHARED,    /* MPI_LOCK_SHARED, held at the ghost */
    HW_RMA_ACCESS_EXCLUSIVE, /* MPI_LOCK_EXCLUSIVE, held at the ghost */
    HW_RMA_ACCESS_NOCHECK,   /* MPI_Win_lock with MPI_MODE_NOCHECK: nothing is held */
    HW_RMA_ACCESS_STARTED,   /* MPI_Win_start */
    HW_RMA_ACCESS_LOCK_ALL,  /* MPI_Win_lock_all: a shared lock, taken at the first operation */
};

/* One side of an operation. */
struct hw_rma_part {
    const void *address; /* the target's: not used; the result's is written */
    MPI_Count count;
    MPI_Datatype type;
};

/* Written by the threads of this process: access under the window's mutex, is_dirty relaxed. */
struct hw_rma_target {
    MPI_Aint offset; /* of its memory in that of its node */
    MPI_Aint size;   /* as it gave it, like the next */
    MPI_Aint disp_unit;
    int process;        /* rank in hw_world.all */
    int ghost;          /* rank in the window; also its place in the window's `ghosts` */
    int ghost_in_world; /* rank in hw_world.all */
    int node;
    char *memory;               /* where it lies in this process; NULL: only its ghost reaches it (near.h) */
    struct hw_ghost_bell *bell; /* of its ghost, if that is on this node */
    struct hw_ghost_apply_lock *lock; /* likewise; NULL: its ghost applies all accumulates */
    _Atomic uint32_t access;          /* enum hw_rma_access */
    _Atomic uint32_t has_accumulates; /* that went to the ghost; while it is dirty they may be under way */
    _Atomic uint32_t dirty; /* the window's generation at its last operation; other values: flushed since */
    _Atomic uint32_t under_way; /* large operations since its last flush (operation/under_way.h) */
};

enum hw_rma_pscw { HW_RMA_PSCW_POST, HW_RMA_PSCW_COMPLETE };

/* Each has a tag for both: MPI_TAG_UB is 32767 at least. */
enum { HW_RMA_NUMBER_COUNT = 16384 };

struct hw_rma_window {
    MPI_Win win;      /* the shadow window, on which operations go to ghosts */
    MPI_Win handle;   /* what the program holds: the shadow window, but for dynamic ones and is_common */
    bool is_common;   /* its shadow is the common one (common.h) */
    int first_member; /* rank of the first in the handle, where that has all of them */
    int flavor;       /* MPI_WIN_FLAVOR_*, as the program made it */
    void *base;       /* of this process's memory, as the program knows it */
    MPI_Win shared;   /* the memory; null: it is in pieces */
    int piece_count;  /* 0: not in pieces */
    struct hw_ghost_piece *pieces; /* of the members on this node, in their order */
    char *mapped;                  /* they, where operations may be done near, and there are others' */
    void *taken;                   /* from the arena, for this window; or NULL */
    struct hw_rma_comms comms;
    int epoch_types; /* that the program promised to use: union of enum hw_rma_epoch_type */
    MPI_Comm users;  /* in the order of the program's communicator; null: no kind of epoch needs it */
    bool owns_users;
    int number; /* among the windows that share hw_world.users; 0 if it owns them */
    /* Several threads of a member may call MPI at once: then a flush is never skipped, because what one
     * thread flushed may not contain what another just issued. */
    bool is_multithreaded;
    char confirmed;  /* where a Get puts what nobody reads (epoch.c) */
    MPI_Group group; /* of users */
    MPI_Info hints;  /* what the program may read back besides the real window's; or HW_INFO_NULL */
    uint64_t id;
    int rank, size; /* in users */
    int ghost_count;
    int *ghosts;                /* of all its nodes, ranks in hw_world.all */
    _Atomic uint32_t *has_puts; /* by ghost: since its last flush; relaxed */
    struct hw_rma_target *targets;
    struct hw_rma_spread *spread;       /* NULL: every operation on a target goes to its own ghost */
    struct hw_rma_dynamic *dynamic;     /* NULL: not of MPI_Win_create_dynamic (dynamic.h) */
    struct hw_rma_window *next;         /* in the order they were made, under the list's lock */
    struct hw_rma_window *next_to_free; /* freed inside of another (window/calls.c) */

    _Atomic uint32_t is_open;     /* a fence, or lock_all with MPI_MODE_NOCHECK: any target, nothing to ask */
    _Atomic uint32_t generation;  /* counts flushes of all targets; never 0 */
    _Atomic uint32_t has_ops;     /* since the last flush of all targets */
    _Atomic uint32_t has_unready; /* since the last local flush of all targets */
    _Atomic uint32_t under_way;   /* the sum over its targets */
    _Atomic uint64_t op_count;

    pthread_mutex_t mutex; /* guards what follows and changes of target->access; held over no waiting */
    bool is_fence, is_lock_all, is_nocheck_all;
    int lock_count;
    int start_count, *start_ranks; /* access epoch; -1: none */
    int post_count;                /* exposure epoch; -1: none */
    MPI_Request *post_requests;
};

/* Whether there may be operations on a target since its last flush. */
static inline bool hw_rma_is_dirty(const struct hw_rma_window *window, const struct hw_rma_target *target)
{
    return window->is_multithreaded ||
           hw_atomic_load_relaxed(&target->dirty) == hw_atomic_load_relaxed(&window->generation);
}

/* In MPI_Finalize: closes what the program left open. */
void hw_rma_unlock_all_at_end(struct hw_rma_window *window);

/* A target that no fence opened: takes its lock under lock_all; an MPI error, already raised, if there is no
 * epoch. */
int hw_rma_open_target(struct hw_rma_window *window, int rank);

/* Waits until what was put has arrived at GHOST, which was flushed. */
int hw_rma_confirm(struct hw_rma_window *window, int ghost);

/* Raises `code` at the window's error handler and returns what the program gets. */
int hw_rma_raise(const struct hw_rma_window *window, int code);

/* What the program gets of a call on WIN, the handle or the shadow window. A shadow window that is not the
 * handle returns errors, which nobody has heard of yet. WINDOW may be NULL: not redirected. */
static inline int hw_rma_pass(const struct hw_rma_window *window, MPI_Win win, int rc)
{
    if (__builtin_expect(rc == MPI_SUCCESS, 1) || window == NULL || win == window->handle)
        return rc;
    return hw_rma_raise(window, rc);
}

/* SINGLE: accumulates of one element, Fetch_and_op and Compare_and_swap. */
enum hw_rma_class { HW_RMA_PUT, HW_RMA_GET, HW_RMA_ACCUMULATE, HW_RMA_SINGLE };

/* What of an operation decides where it may go: its target's side. */
struct hw_rma_shape {
    enum hw_rma_class class;
    MPI_Count count;
    MPI_Datatype datatype;
};

/* An accumulate that reaches into several ghosts' segments, or a ghost's and others: in place of a rank. */
enum { HW_RMA_SEVERAL = INT_MAX - 1 };

/* Where the window is spread (spread.h): the ghost for an operation at `disp` of the node's memory, told that
 * it comes; or HW_RMA_SEVERAL. */
int hw_rma_spread_choose(struct hw_rma_window *window, const struct hw_rma_target *target, MPI_Aint disp,
                         const struct hw_rma_shape *shape);

/* Where the window is dynamic (dynamic.h). True: *win, *rank and *disp are its ghost's, or *rank is
 * HW_RMA_SEVERAL. False: *rank is the target's own in *win. */
bool hw_rma_dynamic_choose(struct hw_rma_window *window, MPI_Win *win, int *rank, MPI_Aint *disp,
                           const struct hw_rma_shape *shape);

/* A rank that no window has: with it the real call raises the error the program deserves. */
enum { HW_RMA_BAD_RANK = INT_MAX };

static inline void hw_rma_choose_ghost(struct hw_rma_window *window, const struct hw_rma_target *target,
                                       int *rank, MPI_Aint disp, const struct hw_rma_shape *shape)
{
    if (__builtin_expect(window->spread != NULL, 0)) {
        *rank = hw_rma_spread_choose(window, target, disp, shape);
    } else {
        hw_ghost_bell_ring(target->bell);
        *rank = target->ghost;
    }
}

/* Turns the target of an operation into its ghost. MPI_SUCCESS: make the real call, or with HW_RMA_SEVERAL
 * the pieces (pieces.h). MPI_PROC_NULL and wrong ranks are left to it. */
static inline int hw_rma_redirect(struct hw_rma_window *window, MPI_Win *win, int *rank, MPI_Aint *disp,
                                  const struct hw_rma_shape *shape)
{
    int target_rank = *rank;
    if (__builtin_expect((unsigned)target_rank >= (unsigned)window->size, 0)) {
        if (target_rank != HW_PROC_NULL)
            *rank = HW_RMA_BAD_RANK;
        return MPI_SUCCESS;
    }
    /* What lies before this target's memory in the shadow window is somebody else's. */
    if (__builtin_expect(*disp < 0 && window->dynamic == NULL, 0))
        return hw_rma_raise(window, MPI_ERR_DISP);
    struct hw_rma_target *target = &window->targets[target_rank];
    if (!hw_atomic_load_relaxed(&window->is_open) &&
        __builtin_expect(hw_atomic_load_relaxed(&target->access) == HW_RMA_ACCESS_NONE, 0)) {
        int rc = hw_rma_open_target(window, target_rank);
        if (rc != MPI_SUCCESS)
            return rc;
    }
    if (__builtin_expect(window->dynamic != NULL, 0)) {
        if (!hw_rma_dynamic_choose(window, win, rank, disp, shape))
            return MPI_SUCCESS;
    } else {
        *win = window->win;
        *disp = target->offset + *disp * target->disp_unit;
        hw_rma_choose_ghost(window, target, rank, *disp, shape);
    }
    /* Completion of a Put at the ghost may need more than a flush. */
    if (shape->class == HW_RMA_PUT)
        hw_atomic_store_relaxed(&window->has_puts[*rank], 1);
    else if (shape->class != HW_RMA_GET)
        hw_atomic_store_relaxed(&target->has_accumulates, 1);
    hw_atomic_store_relaxed(&target->dirty, hw_atomic_load_relaxed(&window->generation));
    hw_atomic_store_relaxed(&window->has_ops, 1);
    hw_atomic_store_relaxed(&window->has_unready, 1);
    hw_atomic_store_relaxed(&window->op_count, hw_atomic_load_relaxed(&window->op_count) + 1);
    return MPI_SUCCESS;
}

#endif
