/* Says that a ghost died, from outside: launchers kill the whole job the moment one process is gone, before
 * any other process of it can write a line. A child of the ghost, in a session of its own, waits for the
 * first of the node's processes to die; if that is the ghost, whose end of a socket pair closed without a
 * word, it was killed. Ghost's only thread. */
#ifndef HW_ENGINES_RMA_GHOST_HERALD_H
#define HW_ENGINES_RMA_GHOST_HERALD_H

/* It may also speak where the launcher ends the ghost at once after a user process, and says so. */
void hw_rma_ghost_herald_start(void);
/* The ghost ends as it should. */
void hw_rma_ghost_herald_stop(void);

#endif
