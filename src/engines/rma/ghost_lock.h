/* The locks a ghost keeps: one for each target it serves, and the gate. Ghost's only thread. */
#ifndef HW_ENGINES_RMA_GHOST_LOCK_H
#define HW_ENGINES_RMA_GHOST_LOCK_H

#include "engines/rma/proto.h"

#include <stdbool.h>

struct hw_rma_waiting {
    struct hw_rma_waiting *next;
    int origin; /* rank in hw_world.all */
    int grant_tag;
    enum hw_rma_lock lock;
    uint64_t since_ns;
};

struct hw_rma_ghost_lock {
    int holder_count;
    bool is_exclusive;
    struct hw_rma_waiting *first;
};

/* Enters a request; grants whatever may be granted. */
void hw_rma_ghost_lock_ask(struct hw_rma_ghost_lock *lock, int origin, const struct hw_rma_command *command);
/* One holder less. */
void hw_rma_ghost_lock_release(struct hw_rma_ghost_lock *lock);

/* To be called now and then while somebody waits anywhere: shared requests that have waited long behind an
 * exclusive one pass it. A program may rely on it: one that holds a shared lock until another process has
 * had one too is legal, whatever a third one asks for in between. */
void hw_rma_ghost_lock_relax(struct hw_rma_ghost_lock *lock);

/* Requests not yet granted, of all locks. */
int hw_rma_ghost_lock_waiting(void);

#endif
