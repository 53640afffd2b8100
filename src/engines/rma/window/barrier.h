/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers of a communicator with the members of windows (doc/adr/0041): Global Arrays and other programs of
 * passive targets know no other point at which all meet. Each 16th is made as a meeting in which members
 * agree (agree.h), which is a barrier too. After a change of routes each 2nd is, for a while: what turns out
 * longer is left soon. It is found by count, so all processes make the same one so. Any
 * thread of a user process, inside an entry. */
#ifndef HW_ENGINES_RMA_WINDOW_BARRIER_H
#define HW_ENGINES_RMA_WINDOW_BARRIER_H

#include "engines/engine.h"

extern HW_HIDDEN const struct hw_engine_collective hw_rma_collective_calls;

/* In MPI_Finalize. */
void hw_rma_barrier_close(void);

#endif
