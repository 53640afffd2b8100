/* SPDX-License-Identifier: BSD-3-Clause */
/* Who the members of a communicator are, found without a message and kept until the communicator is freed
 * (objects/comm_state.h). Threads of a user process, inside a hook. */
#ifndef HW_WORLD_MEMBERS_H
#define HW_WORLD_MEMBERS_H

#include "real/real.h"

#include <stdint.h>

struct hw_world_members {
    uint64_t number;   /* of this communicator as long as it lives, and of no other ever; not 0 */
    uint64_t likeness; /* a hash of the members: communicators of the same members have the same */
    int rank, size;    /* size 0: an intercommunicator, or with members outside of the world */
    int processes[];   /* ranks in hw_world.all */
};

/* NULL: its members are not known as processes of the world. */
const struct hw_world_members *hw_world_members_of(MPI_Comm comm);

/* Before MPI_Finalize; once more does nothing. */
void hw_world_members_close(void);

#endif
