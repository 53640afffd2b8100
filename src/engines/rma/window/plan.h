/* SPDX-License-Identifier: BSD-3-Clause */
/* What the members of a window agree on before it is made with the ghosts: who they are, whether all of them
 * want it served, and where the memory of each is (MPI-4.1 section 12.2). Any thread of a user process,
 * inside a hook.
 */
#ifndef HW_ENGINES_RMA_WINDOW_PLAN_H
#define HW_ENGINES_RMA_WINDOW_PLAN_H

#include "base/status.h"
#include "real/real.h"

#include <stdbool.h>
#include <stdint.h>

enum hw_rma_consent {
    HW_RMA_WILLING,
    HW_RMA_REFUSED,
    HW_RMA_NO_MEMORY,
    HW_RMA_UNREACHABLE,
    HW_RMA_NO_ARENA,
    HW_RMA_TOO_MANY,
    HW_RMA_BESIDE,
    HW_RMA_CROWDED,
    HW_RMA_ALIGNED,
    HW_RMA_EXTENDED
};

/* What each process tells the others about its part. */
struct hw_rma_offer {
    int64_t size, disp_unit;
    int64_t place;          /* of its memory in the node's file; -1: not there */
    int64_t place_in_range; /* likewise in its range; -1: not there */
    uint64_t id;            /* that of rank 0 counts */
    int32_t consent;
    int32_t binding;     /* enum hw_option_ghost_binding; that of rank 0 counts */
    int32_t epoch_types; /* the union counts */
    int32_t page_bytes;
    int64_t range_bytes;
    int64_t is_multithreaded;    /* hw_rma_may_have_threads() */
    int64_t range_base, landing; /* of a dynamic window (dynamic.c): addresses */
    int32_t wish;                /* enum hw_rma_wish; that of rank 0 counts where owners may be used */
    int32_t may_use_owner;       /* hw_rma_route_may_use_owner() */
    int32_t changes_at_barriers; /* hw_rma_route_changes_at_barriers() */
    int32_t adapt;               /* enum hw_option_adapt; that of rank 0 counts */
    int64_t may_defer;           /* HEADWAY_DEFER; all must, where epochs are deferred */
    int64_t begins_by_owner;     /* hw_rma_route_begins_by_owner(); that of rank 0 counts */
    int64_t foreseen_ns;         /* hw_rma_route_foreseen_ns(); the sum counts before that */
};

struct hw_rma_plan {
    MPI_Comm comm; /* the program's */
    MPI_Group group;
    int rank, size;
    int *members;   /* ranks in hw_world.all */
    int first_node; /* of the first */
    bool is_whole, is_one_node;
    int flavor;         /* MPI_WIN_FLAVOR_* */
    void *base;         /* of this process's memory */
    void *taken;        /* from the arena, for this window */
    bool is_in_pieces;  /* the memory is there already, and its ghosts can map it: piece by piece, or ... */
    bool is_dynamic;    /* ... all of its range */
    bool is_common;     /* the shadow window is the common one */
    bool may_use_owner; /* operations may go to the target itself (route.h) */
    bool changes_at_barriers;
    struct hw_rma_offer own, *offers;
    struct hw_ghost_piece *pieces; /* room for one of each member, where they are in pieces */
};

/* From what all members know alike: HW_OK, or HW_DECLINED after the reason was recorded. Fills in who takes
 * part; a member without memory for that says so when they agree. */
enum hw_status hw_rma_plan_judge(struct hw_rma_plan *plan);

/* Everybody's part, in `offers`; this is also where the members wait for each other, before any ghost is
 * asked. Alike at all of them. Declines where a member is out of memory. */
enum hw_status hw_rma_plan_agree(struct hw_rma_plan *plan);

/* Whether all members have the memory for the window; where one has not, none may go on, or the others would
 * wait for it. Records why the window is declined. */
bool hw_rma_plan_all_have_memory(const struct hw_rma_plan *plan, bool has_own);

/* One more (1) or less (-1) window that is the MPI's own. */
void hw_rma_count_declined(int change);

void hw_rma_plan_end(struct hw_rma_plan *plan);

/* Of the memory of this process, if it is of the arena. */
void hw_rma_plan_find_place(struct hw_rma_plan *plan);

/* For MPI_Win_allocate; where a member gets none all ask the MPI, whose error the program may know how to
 * handle. Parts of MPI_Win_allocate_shared lie one behind the other, whatever the hint alloc_shared_noncontig
 * says: only the MPI's are so. */
void hw_rma_plan_take_memory(struct hw_rma_plan *plan, MPI_Info info);

/* That there is one more (1) or less (-1) window of this process with a communicator of its own. */
void hw_rma_plan_count_own_comms(int change);

/* Whether one more window of this process can be in pieces, and that there is one more (1) or less (-1). */
bool hw_rma_plan_may_be_in_pieces(void);
void hw_rma_plan_count_in_pieces(int change);

#endif
