/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicators that user processes and ghosts make together for a window. */
#ifndef HW_ENGINES_RMA_WINDOW_COMMS_H
#define HW_ENGINES_RMA_WINDOW_COMMS_H

#include "base/status.h"
#include "real/real.h"

#include <stdbool.h>

/* The communicators a window is made on. Both sides make them of the same members (ranks in hw_world.all,
 * in the order of the program's communicator). The window's has the ghosts of their nodes first, in the order
 * of hw_rma_ghosts_of, then the members: Open MPI keeps the locks of a node's accumulates in the first of its
 * processes, whose progress they then need. The node's has the members of this node, then all its ghosts. */
struct hw_rma_comms {
    MPI_Comm window;
    MPI_Comm node; /* null: not asked for */
    bool is_world; /* hw_world.ghosts_first and hw_world.node themselves */
    int *ranks;    /* until they are made: ghosts, then members, and room for as many again */
    int ghost_count, member_count;
};

/* MEMBERS may be NULL: all. By this process alone; what comes after needs no memory. False: there is none. */
bool hw_rma_comms_prepare(const int *members, int member_count, struct hw_rma_comms *comms);

/* Together with the others. HW_MPI if the MPI refuses. */
enum hw_status hw_rma_comms_make(struct hw_rma_comms *comms, bool wants_node);

/* Prepared, made or neither. */
void hw_rma_comms_free(struct hw_rma_comms *comms);

/* The ghosts of the members' nodes, as ranks in hw_world.all; the caller frees it. NULL: no memory. */
int *hw_rma_ghosts_of(const int *members, int member_count, int *ghost_count);

#endif
