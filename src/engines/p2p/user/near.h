/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages within the node (HEADWAY_P2P_NEAR): the ticket names an open cell of the sender's queue, and the
 * receiver that claims it reads the data where they lie (process_vm_readv(2)), once. A sender that waits
 * while the receiver does not come moves them into memory of its own, and has its buffer back: so no send
 * waits for a process that is blocked elsewhere. What may be moved so is limited, and the message that would
 * exceed it goes the MPI's way. Threads of the program, inside a hook. */
#ifndef HW_ENGINES_P2P_USER_NEAR_H
#define HW_ENGINES_P2P_USER_NEAR_H

#include "engines/p2p/shared/opened.h"
#include "engines/p2p/user/ticket.h"

#include <stdbool.h>
#include <stdint.h>

/* After the service opened. */
void hw_p2p_near_open(void);
/* What was left is read until the last user process is in MPI_Finalize: it stays. */
void hw_p2p_near_close(void);

/* ---- the sender ---------------------------------------------------------------------------------------- */

/* Of a message to `process`, a rank in hw_world.all, of the own node. NULL, or why not, for the record. */
const char *hw_p2p_near_refuse(int process);

/* What may have to be moved out of the way of the program. In a turn. False: too much is under way. */
bool hw_p2p_near_take_room(uint64_t bytes);
void hw_p2p_near_give_room(uint64_t bytes);

/* The sender waits for the end of such a message, or asks for it, *asked of the times not soon after another.
 * True: for long enough. */
bool hw_p2p_near_is_late(uint32_t *asked);

/* Moves the data of an open cell away. True: its buffer is the sender's again, its room when the receiver has
 * read the data, and the cell no more. False: a receiver has claimed it, so it ends soon; or there is no
 * memory. */
bool hw_p2p_near_leave(struct hw_queue_cell *cell);

/* Between two looks: the receives of this process that have such messages, and progress. */
void hw_p2p_near_pause(const struct hw_queue_cell *cell);

/* ---- the receiver -------------------------------------------------------------------------------------- */

/* Reads the first `bytes` of the message; the sender has its end then. 0, or an errno. */
int hw_p2p_near_read(const struct hw_p2p_ticket *ticket, void *to, uint64_t bytes);

#endif
