/* SPDX-License-Identifier: BSD-3-Clause */
/* A ticket is the message that the MPI carries in place of one that ghosts move: same communicator, receiver,
 * tag and mode, so that all matching is the MPI's. It begins with the random word of the job, and says where
 * the data are, or will be. Its length is a multiple of each basic datatype that is sent so. */
#ifndef HW_ENGINES_P2P_USER_TICKET_H
#define HW_ENGINES_P2P_USER_TICKET_H

#include "engines/p2p/shared/opened.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { HW_P2P_TICKET_BYTES = 48, HW_P2P_TICKET_VERSION = 1 };

struct hw_p2p_ticket {
    uint8_t magic[HW_P2P_MAGIC_BYTES];
    uint32_t version;
    int32_t from; /* rank in the program's world */
    uint64_t number, bytes;
    uint64_t is_near; /* 1: `number` is that of a cell of the sender's queue, from the same node (near.h) */
};
static_assert(sizeof(struct hw_p2p_ticket) == HW_P2P_TICKET_BYTES, "it travels as bytes");

static inline bool hw_p2p_is_ticket(const struct hw_p2p_ticket *ticket)
{
    return memcmp(ticket->magic, hw_p2p_opened.magic, sizeof ticket->magic) == 0 &&
           ticket->version == HW_P2P_TICKET_VERSION;
}

#endif
