/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages whose ticket was cancelled (MPI_Cancel): nobody will ask for what their ghost has moved. It tells
 * the receiver's, which gives the room back. Threads of the program, in turns (turns.h). */
#ifndef HW_ENGINES_P2P_USER_WITHDRAWN_H
#define HW_ENGINES_P2P_USER_WITHDRAWN_H

#include "shm/queue.h"

#include <stdint.h>

/* Of a message that its ghost has done with, to rank `to` of hw_world.all. */
void hw_p2p_withdrawn_add(struct hw_queue_producer *producer, int to, uint64_t number);

/* Hands over what the queue had no place for, and forgets what is done. */
void hw_p2p_withdrawn_look_after(struct hw_queue_producer *producer);

/* Waits for what its ghost has. */
void hw_p2p_withdrawn_close(void);

#endif
