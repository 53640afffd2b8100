/* SPDX-License-Identifier: BSD-3-Clause */
/* The data of a message that has arrived in the room of this process's ghost (shared/room.h): a chain of
 * units, which mostly lie one behind the other. Any thread. */
#ifndef HW_ENGINES_P2P_USER_STAGED_H
#define HW_ENGINES_P2P_USER_STAGED_H

#include "engines/p2p/shared/block.h"

/* The first so many bytes of it. */
void hw_p2p_staged_copy(const struct hw_p2p_entry *entry, uint64_t bytes, void *to);

/* Where all of it lies in one piece. NULL: nowhere. */
char *hw_p2p_staged_whole(const struct hw_p2p_entry *entry);

#endif
