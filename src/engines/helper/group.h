/* SPDX-License-Identifier: BSD-3-Clause */
/* Who the members of a communicator are, and its id: a hash of their ranks in the world, found without a
 * message. Two communicators of the same members look alike, which costs a look in vain now and then. Kept
 * until the communicator is freed (objects/comm_state.h). Threads of a user process, one at a time, inside a
 * hook.
 */
#ifndef HW_ENGINES_HELPER_GROUP_H
#define HW_ENGINES_HELPER_GROUP_H

#include "real/real.h"

#include <stdbool.h>
#include <stdint.h>

struct hw_helper_group {
    uint64_t id;
    int rank, size;  /* size 0: of an intercommunicator, or with members outside of the world */
    int processes[]; /* ranks in hw_world.all */
};

/* Before MPI_Finalize. */
void hw_helper_groups_close(void);

/* NULL: no helper can tell of messages on it. */
const struct hw_helper_group *hw_helper_group_of(MPI_Comm comm);

#endif
