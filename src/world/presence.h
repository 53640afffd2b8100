/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether all processes of MPI_COMM_WORLD take part in the split of the world. Where one does not (it runs
 * without the library, or without HEADWAY_GHOSTS), the others would wait for it in their first collective
 * call for ever, and in silence. doc/adr/0030. */
#ifndef HW_WORLD_PRESENCE_H
#define HW_WORLD_PRESENCE_H

#include "base/status.h"

/* In MPI_Init* of every process that is to split the world, before its first collective call. Each process
 * exchanges a message with its neighbours in a binomial tree over the ranks, and waits for it. HW_BAD_INPUT,
 * after one line: a neighbour does not take part, and this process must end the job. */
enum hw_status hw_world_presence_await(void);

#endif
