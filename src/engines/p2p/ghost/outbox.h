/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes that go out in order, as soon as there is room for them on the wire. Ghost's only thread. */
#ifndef HW_ENGINES_P2P_GHOST_OUTBOX_H
#define HW_ENGINES_P2P_GHOST_OUTBOX_H

#include "engines/p2p/ghost/wire.h"

#include <stdbool.h>

void hw_p2p_outbox_put(int place, const struct hw_p2p_note *note);
/* True: something went out. */
bool hw_p2p_outbox_advance(void);
bool hw_p2p_outbox_is_empty(void);
void hw_p2p_outbox_close(void);

#endif
