/* SPDX-License-Identifier: BSD-3-Clause */
/* How a user process talks to ghosts, and makes progress meanwhile. Any thread, inside a hook. */
#ifndef HW_GHOST_CHANNEL_H
#define HW_GHOST_CHANNEL_H

#include "base/status.h"
#include "ghost/protocol.h"
#include "real/real.h"

/* At the start of a user process. HW_NOMEM: nothing was opened. */
enum hw_status hw_ghost_channel_open(void);
void hw_ghost_channel_close(void);

/* Sends a command to a ghost (rank in hw_world.all). Returns an MPI error code, not raised. */
int hw_ghost_tell(int ghost, const struct hw_ghost_command *command);

/* The same, and waits for the grant, whose tag it chooses; the wait makes MPI progress. */
int hw_ghost_ask(int ghost, struct hw_ghost_command *command);

/* A question whose grant nobody waits for: the request of the grant, and the tag that is the question's own
 * until hw_ghost_later_end, when the request is complete. */
struct hw_ghost_later {
    MPI_Request request;
    int tag;
};

/* HW_DECLINED: as many as there may be are under way, and nothing was done. *rc: an MPI error code, not
 * raised; then it has ended. */
enum hw_status hw_ghost_ask_later(int ghost, struct hw_ghost_command *command, struct hw_ghost_later *later,
                                  int *rc);
void hw_ghost_later_end(struct hw_ghost_later *later);

/* Collective over hw_world.users, in MPI_Finalize: how many commands each ghost got from all of them, by its
 * place in hw_world.ghost_ranks. Valid until close. */
const uint64_t *hw_ghost_channel_sum(void);

/* Progress of this process, and the same if there was none for a moment: what is done without the ghost needs
 * no call of MPI, but a program may look again and again for what only its own progress brings about
 * (tests/mpi/near_far.c). Without the ghost's lock. */
void hw_ghost_channel_progress(void);
void hw_ghost_channel_progress_sometimes(void);

#endif
