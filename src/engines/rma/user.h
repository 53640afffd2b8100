/* How a user process talks to ghosts. Any thread, inside a hook. */
#ifndef HW_ENGINES_RMA_USER_H
#define HW_ENGINES_RMA_USER_H

#include "engines/rma/window/proto.h"

/* Sends a command to a ghost (rank in hw_world.all). Returns an MPI error code, not raised. */
int hw_rma_tell(int ghost, struct hw_rma_command *command);

/* The same, and waits for the grant; the wait makes MPI progress. */
int hw_rma_ask(int ghost, struct hw_rma_command *command);

/* Between them no other process of the world makes or frees a window. */
int hw_rma_gate_enter(void);
int hw_rma_gate_leave(void);

#endif
