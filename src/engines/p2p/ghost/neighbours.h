/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether user processes of a node read one another's messages where they lie (HEADWAY_P2P_NEAR): opens what
 * they need for it, their blocks and the kernel's leave. In MPI_Init* and MPI_Finalize. */
#ifndef HW_ENGINES_P2P_GHOST_NEIGHBOURS_H
#define HW_ENGINES_P2P_GHOST_NEIGHBOURS_H

#include "engines/p2p/ghost/users.h"

/* What the option says of this node. */
bool hw_p2p_neighbours_are_wanted(void);

/* Collective over hw_world.node, while all files are open; ALL: as hw_p2p_users_take has it. IS_SERVED: this
 * process has all else. Fills hw_p2p_opened.neighbours in all user processes of the node, or in none. */
void hw_p2p_neighbours_open(const struct hw_p2p_introduction *all, bool is_served);
void hw_p2p_neighbours_drop(void);

#endif
