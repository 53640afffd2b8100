/* What user processes say to ghosts, and what ghosts answer. All of it travels on hw_world.all.
 *
 * A user process sends commands (tag COMMAND, one struct each); a CREATE is followed by its members, hints
 * and pieces (tag DETAIL). Between the commands that make or free a window the ghosts take part in collective
 * calls, so two of them must never be under way at once with different orders at different ghosts: whoever
 * begins one holds the gate, which the first ghost of the world keeps (user.c, ghost.c). */
#ifndef HW_ENGINES_RMA_WINDOW_PROTO_H
#define HW_ENGINES_RMA_WINDOW_PROTO_H

#include "world/world.h"

#include <assert.h>
#include <stdint.h>

enum hw_rma_tag {
    HW_RMA_TAG_COMMAND = 1,
    HW_RMA_TAG_DETAIL,
    HW_RMA_TAG_GROUP, /* of MPI_Comm_create_group */
    HW_RMA_TAG_NODE_GROUP,
    HW_RMA_TAG_MEET,               /* of the members of a window without a communicator of theirs */
    HW_RMA_TAG_NEVER,              /* no message has it */
    HW_RMA_TAG_GRANT_FIRST = 1024, /* a grant carries the tag its request named, from here on */
    HW_RMA_TAG_GRANT_COUNT = 16384,
};

enum hw_rma_kind {
    HW_RMA_CREATE =
        1,         /* id, member_count, hint_bytes, piece_count, is_dynamic: take part in making a window */
    HW_RMA_FREE,   /* id: take part in freeing it */
    HW_RMA_LOCK,   /* id, target, lock, grant_tag: queue; a grant (empty message) answers */
    HW_RMA_UNLOCK, /* id, target, lock: no answer */
    HW_RMA_FINISH, /* id: how many other commands this ghost gets in all; every user process is in
                      MPI_Finalize */
};

/* The gate is a lock of its first ghost's, with this for a window. */
#define HW_RMA_GATE_ID UINT64_MAX

enum hw_rma_lock { HW_RMA_LOCK_SHARED = 1, HW_RMA_LOCK_EXCLUSIVE = 2 };

struct hw_rma_command {
    int32_t kind;
    int32_t grant_tag;
    uint64_t id;          /* of the window: the same at all its members */
    int32_t target;       /* rank in the window's communicator */
    int32_t lock;         /* enum hw_rma_lock */
    int32_t member_count; /* of user processes; 0: all of the world, and no list follows */
    int32_t hint_bytes;
    int32_t piece_count; /* one for each member on the ghost's node; 0: memory is still to be made */
    int32_t is_dynamic;  /* its memory is the ranges of the ghost's node (node_memory.h) */
};
static_assert(sizeof(struct hw_rma_command) == 40, "both sides read it as bytes");

/* How user processes and ghosts lay out a node's memory that MPI_Win_allocate_shared gives: in the order of
 * the members, each from a page of its own unless the program itself shares it. (Pieces: node_memory.h.) */
enum { HW_RMA_ALIGNMENT = 4096 };

static inline MPI_Aint hw_rma_round_up(MPI_Aint size)
{
    return (size + HW_RMA_ALIGNMENT - 1) & ~(MPI_Aint)(HW_RMA_ALIGNMENT - 1);
}

/* The communicators a window is made on. Both sides call this with the same members (ranks in hw_world.all,
 * in the order of the program's communicator). The window's has the ghosts of their nodes first, in the order
 * of hw_rma_ghosts_of, then the members: Open MPI keeps the locks of a node's accumulates in the first of its
 * processes, whose progress they then need. The node's has the members of this node, then all its ghosts. */
struct hw_rma_comms {
    MPI_Comm window;
    MPI_Comm node; /* null: not asked for */
    bool is_world; /* hw_world.ghosts_first and hw_world.node themselves */
};

/* HW_MPI if the MPI refuses. */
enum hw_status hw_rma_comms_make(const int *members, int member_count, bool wants_node,
                                 struct hw_rma_comms *comms);
void hw_rma_comms_free(struct hw_rma_comms *comms);

/* The ghosts of the members' nodes, as ranks in hw_world.all; the caller frees it. NULL: no memory. */
int *hw_rma_ghosts_of(const int *members, int member_count, int *ghost_count);

/* At the end, all processes of the world together: nobody still owes a peer an acknowledgement when it stops
 * making progress, in MPI_Finalize. */
void hw_rma_quiesce(void);

/* Hints of the program in the form in which they travel: "key\0value\0", and back. Those that would be untrue
 * for the shadow window (no_locks, same_size, same_disp_unit) are left out. */
int hw_rma_hints_pack(MPI_Info info, char *text, int capacity);
MPI_Info hw_rma_hints_unpack(const char *text, int bytes);

#endif
