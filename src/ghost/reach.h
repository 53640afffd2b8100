/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether processes of a node reach one another's memory (process_vm_readv(2)). */
#ifndef HW_GHOST_REACH_H
#define HW_GHOST_REACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* At `address` there is `value`, if the process number means the same to who reads. */
struct hw_ghost_proof {
    uint64_t address, value;
};

/* Of this process. One thread at a time. */
struct hw_ghost_proof hw_ghost_reach_proof(void);
/* Why the process that gave the proof cannot be read; NULL: it can. pid 0: it is not known. */
const char *hw_ghost_reach_refuse(pid_t pid, struct hw_ghost_proof proof);

/* Whether ghosts read the user processes that they serve. Collective over hw_world.node, when services open.
 * The same at all processes of the node. */
bool hw_ghost_reach_users(void);

#endif
