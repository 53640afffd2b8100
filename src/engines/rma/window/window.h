/* SPDX-License-Identifier: BSD-3-Clause */
/* A redirected window, as a user process knows it, and the step every operation takes. */
#ifndef HW_ENGINES_RMA_WINDOW_WINDOW_H
#define HW_ENGINES_RMA_WINDOW_WINDOW_H

#include "base/atomic.h"
#include "base/visibility.h"
#include "engines/rma/window/comms.h"
#include "engines/rma/window/protocol.h"
#include "engines/rma/window/route.h"
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

/* Written by the threads of this process: access under the window's mutex, the other atomic ones relaxed. All
 * are read relaxed, by any thread. */
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
    _Atomic uint32_t under_way; /* large operations since its last flush (epoch/under_way.h) */
    _Atomic uint32_t route;     /* enum hw_rma_route: of Put and Get of this process (route.h) */
    struct hw_rma_owner owner;
};

/* What went to a ghost, whoever was the target. Relaxed. */
struct hw_rma_sent {
    _Atomic uint32_t has_puts; /* since its last flush */
    _Atomic uint32_t dirty;    /* like that of a target */
};

enum hw_rma_pscw { HW_RMA_PSCW_POST, HW_RMA_PSCW_COMPLETE };

/* Each has a tag for both: MPI_TAG_UB is 32767 at least. */
enum { HW_RMA_NUMBER_COUNT = 16384 };

struct hw_rma_window {
    MPI_Win win;      /* the shadow window, on which operations go to ghosts */
    MPI_Win handle;   /* what the program holds: the shadow window, but for dynamic ones and is_common */
    int first_member; /* rank of the first in the handle, where that has all of them */
    int flavor;       /* MPI_WIN_FLAVOR_*, as the program made it */
    void *base;       /* of this process's memory, as the program knows it */
    bool is_apart;    /* its parts need not touch: MPIs then show an empty one as NULL */
    MPI_Win shared;   /* the memory; null: it is in pieces */
    int piece_count;  /* 0: not in pieces */
    struct hw_ghost_piece *pieces; /* of the members on this node, in their order */
    char *mapped;                  /* they, where operations may be done near, and there are others' */
    void *taken;                   /* from the arena, for this window; or NULL */
    struct hw_rma_comms comms;
    int epoch_types; /* that the program promised to use: union of enum hw_rma_epoch_type */
    MPI_Comm users;  /* in the order of the program's communicator; null: no kind of epoch needs it */
    int number;      /* among the windows that share hw_world.users; 0 if it owns them */
    bool is_common;  /* its shadow is the common one (common.h) */
    bool owns_users;
    /* Several threads of a member may call MPI at once: then a flush is never skipped, because what one
     * thread flushed may not contain what another just issued. */
    bool is_multithreaded;
    bool may_defer;  /* all members want it (HEADWAY_DEFER), and call MPI from one thread at a time */
    char confirmed;  /* scratch byte of the confirming Get (epoch/arrival.c) */
    MPI_Group group; /* of users */
    MPI_Info hints;  /* what the program may read back besides the real window's; or HW_INFO_NULL */
    uint64_t id;
    int rank, size; /* in users */
    int ghost_count;
    int *ghosts;                /* of all its nodes, ranks in hw_world.all; those of a node in a row */
    int near_first, near_count; /* places of this node's in it */
    struct hw_rma_sent *sent;   /* by ghost */
    struct hw_rma_target *targets;
    struct hw_rma_routes routes;
    struct hw_rma_adapt *adapt;       /* NULL: routes change by what the program says alone (adapt/) */
    struct hw_rma_spread *spread;     /* NULL: every operation on a target goes to its own ghost */
    struct hw_rma_deferred *deferred; /* NULL: every target was open at the beginning of epochs (deferred/) */
    struct hw_rma_dynamic *dynamic;   /* NULL: not of MPI_Win_create_dynamic (dynamic.h) */
    struct hw_rma_window *next;       /* in the order they were made, under the list's lock */
    struct hw_rma_window *next_to_free; /* freed inside of another (window/calls.c) */

    _Atomic uint32_t is_watched;  /* adapt/measure.h is told of operations */
    _Atomic uint32_t is_open;     /* a fence, or lock_all with MPI_MODE_NOCHECK: any target, nothing to ask */
    _Atomic uint32_t generation;  /* counts flushes of all targets; never 0 */
    _Atomic uint32_t has_ops;     /* since the last flush of all targets */
    _Atomic uint32_t has_unready; /* since the last local flush of all targets */
    _Atomic uint32_t under_way;   /* the sum over its targets */
    _Atomic uint64_t op_count;    /* of operations that ghosts got */
    _Atomic uint64_t op_count_flushed; /* that, at the last flush of all targets */

    /* Changed under the mutex, as is access of a target, so that a check and its change are one. Read
     * relaxed, without it: threads of a program order the calls of which one needs what the other began. */
    _Atomic uint32_t is_lock_all;
    _Atomic uint32_t lock_count; /* targets locked one by one, or about to be */

    pthread_mutex_t mutex; /* guards what follows, and the changes above; held over no waiting */
    bool is_shown;         /* MPI_Win_shared_query: the program may load and store others' memory */
    bool is_fence, is_nocheck_all;
    int start_count, *start_ranks; /* access epoch; -1: none */
    int post_count;                /* exposure epoch; -1: none */
    MPI_Request *post_requests;    /* what they point to is of the thread that begins or ends the epoch */
};

/* Whether there may be operations on a target since its last flush. */
static inline bool hw_rma_is_dirty(const struct hw_rma_window *window, const struct hw_rma_target *target)
{
    return window->is_multithreaded ||
           hw_atomic_load_relaxed(&target->dirty) == hw_atomic_load_relaxed(&window->generation);
}

/* An operation goes to GHOST, a rank in the window. */
static inline void hw_rma_note_ghost(struct hw_rma_window *window, int ghost)
{
    hw_atomic_store_relaxed(&window->sent[ghost].dirty, hw_atomic_load_relaxed(&window->generation));
}

/* Whether that has happened since its last flush, as far as this thread knows. */
static inline bool hw_rma_is_ghost_dirty(const struct hw_rma_window *window, int ghost)
{
    return hw_atomic_load_relaxed(&window->sent[ghost].dirty) == hw_atomic_load_relaxed(&window->generation);
}

/* The same of what went to the owner. */
static inline bool hw_rma_is_owner_dirty(const struct hw_rma_window *window,
                                         const struct hw_rma_target *target)
{
    return __builtin_expect(hw_atomic_load_relaxed(&window->routes.has_ops) != 0, 0) &&
           (window->is_multithreaded ||
            hw_atomic_load_relaxed(&target->owner.dirty) == hw_atomic_load_relaxed(&window->generation));
}

/* Whether a lock, a lock of all, or an epoch of MPI_Win_start or MPI_Win_post is open. */
bool hw_rma_window_has_epoch(struct hw_rma_window *window);

/* While this thread issues operations that were deferred: errors are kept for the end of their epoch. */
extern HW_HIDDEN _Thread_local bool hw_rma_is_muted;

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

/* A rank that no window has: with it the real call raises the error the program deserves. */
enum { HW_RMA_BAD_RANK = INT_MAX };

/* Local loads and stores meet the ghost's, and what came to this process itself. */
int hw_rma_synchronise(const struct hw_rma_window *window);

/* The user processes; the program frees the group. */
int hw_rma_window_group(const struct hw_rma_window *window, MPI_Group *group);
/* Turns a user process's rank into the real window, and the rank in it, where MPI_Win_shared_query shows its
 * memory as the program gave it. MPI_PROC_NULL means the first with memory; wrong ranks stay wrong. Returns
 * where in this process the memory is, with its size and unit, if it is reached from here and no MPI knows.
 */
char *hw_rma_window_memory(const struct hw_rma_window *window, MPI_Win *win, int *rank, MPI_Aint *size,
                           MPI_Aint *disp_unit);

#endif
