/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on their way out: jobs of this ghost's user processes, whose data it reads and sends in chunks to
 * the receivers' ghosts. Several at once, a chunk of each in turn. Ghost's only thread. */
#ifndef HW_ENGINES_P2P_GHOST_OUTGOING_H
#define HW_ENGINES_P2P_GHOST_OUTGOING_H

#include <stdbool.h>

/* False: no memory. */
bool hw_p2p_outgoing_open(void);
void hw_p2p_outgoing_close(void);

/* Takes jobs, sends what is due. True: it did something. */
bool hw_p2p_outgoing_advance(void);

/* Nothing is under way, and no job is there. */
bool hw_p2p_outgoing_is_idle(void);

#endif
