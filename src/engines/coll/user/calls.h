/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engine is asked: nonblocking collectives. Whether it takes one it judges by what all members know
 * alike: the communicator, and how many bytes go from one process to one other. Threads of the program, one
 * at a time, inside an entry. */
#ifndef HW_ENGINES_COLL_USER_CALLS_H
#define HW_ENGINES_COLL_USER_CALLS_H

#include "engines/engine.h"

extern HW_HIDDEN const struct hw_engine_collective hw_coll_calls;
extern HW_HIDDEN const struct hw_engine_communicator hw_coll_communicator_calls;

#endif
