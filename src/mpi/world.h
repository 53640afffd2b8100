/* SPDX-License-Identifier: BSD-3-Clause */
/* This file reaches attributes of the program's world, for all ways that lead to them. Any thread. */
#ifndef HW_MPI_WORLD_H
#define HW_MPI_WORLD_H

#include "base/visibility.h"
#include "real/real.h"

/* The communicator that has the attribute: the user world the program's own, MPI_COMM_WORLD what MPI attaches
 * itself. `comm` comes as the program gave it, or translated; `keyval` is C's. */
HW_HIDDEN MPI_Comm hw_attr_place(MPI_Comm comm, int keyval);

/* MPI_UNIVERSE_SIZE as the program is told it: there are as many fewer places as there are ghosts. */
HW_HIDDEN int hw_attr_universe(int real);

/* After the world was split, in a user process: what MPI_INFO_ENV says of how many processes there are. */
HW_HIDDEN void hw_env_correct(void);

#endif
