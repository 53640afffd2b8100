/* SPDX-License-Identifier: BSD-3-Clause */
/* hw_world_comm puts the user world in place of MPI_COMM_WORLD.
 *
 * Where ghosts took a part of the world, every communicator that the program passes goes through here.
 * Without ghosts both members are zero: one load and one branch that is always predicted. Written in
 * MPI_Init* and at the end of MPI_Finalize; any thread may read. */
#ifndef HW_WORLD_COMM_H
#define HW_WORLD_COMM_H

#include "base/visibility.h"
#include "real/real.h"

struct hw_world_translation {
    MPI_Comm from; /* MPI_COMM_WORLD; 0 without ghosts, which is no communicator in any MPI */
    MPI_Comm to;   /* its user processes; 0 without ghosts */
};

extern HW_HIDDEN struct hw_world_translation hw_world_translation;

static inline MPI_Comm hw_world_comm(MPI_Comm comm)
{
    return __builtin_expect(comm == hw_world_translation.from, 0) ? hw_world_translation.to : comm;
}

/* True if `comm`, already translated, is the program's world and not all of MPI_COMM_WORLD. */
static inline bool hw_world_is_user_world(MPI_Comm comm)
{
    return hw_world_translation.from != hw_world_translation.to && comm == hw_world_translation.to;
}

#endif
