/* The locks a ghost keeps: one for each target of each window it serves while somebody holds or wants it, and
 * the gate. A lock is there from its first request to its last release, so nobody has to make or free one.
 * Ghost's only thread. */
#ifndef HW_ENGINES_RMA_GHOST_LOCK_H
#define HW_ENGINES_RMA_GHOST_LOCK_H

#include "engines/rma/window/proto.h"

/* By `id` and `target` of a request, grants alike: enters it; grants whatever may be granted. `origin`: rank
 * in hw_world.all. */
void hw_rma_ghost_lock_ask(int origin, const struct hw_rma_command *request);
/* One holder less. */
void hw_rma_ghost_lock_release(const struct hw_rma_command *request);

/* To be called now and then: shared requests that have waited long behind an exclusive one pass it. A program
 * may rely on it: one that holds a shared lock until another process has had one too is legal, whatever a
 * third one asks for in between. */
void hw_rma_ghost_locks_relax(void);

#endif
