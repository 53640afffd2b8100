/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on sealed communicators on their way out: offered to the receiver's ghost, and sent in chunks once
 * that asks for them. Several at once, a chunk of each in turn. Ghost's only thread. */
#ifndef HW_ENGINES_P2P_GHOST_PUSHES_H
#define HW_ENGINES_P2P_GHOST_PUSHES_H

#include "engines/p2p/ghost/users.h"
#include "engines/p2p/ghost/wire.h"

#include <stdbool.h>

bool hw_p2p_pushes_open(void);
void hw_p2p_pushes_close(void);

/* A send. */
void hw_p2p_pushes_offer(struct hw_p2p_user *user, const struct hw_p2p_command *command);
/* Of a send that was offered and may have ended since. */
void hw_p2p_pushes_cancel(const struct hw_p2p_user *user, const struct hw_p2p_command *command);

/* Notes of the receiver's ghost. */
void hw_p2p_pushes_pulled(const struct hw_p2p_note *note);
void hw_p2p_pushes_cancelled(const struct hw_p2p_note *note);

bool hw_p2p_pushes_advance(void);
/* Nothing that was asked for is still to be sent. */
bool hw_p2p_pushes_are_idle(void);

#endif
