/* SPDX-License-Identifier: BSD-3-Clause */
/* The locks a ghost keeps, as a service (service.h): one for each target of each window it serves while
 * somebody holds or wants it, and the gate (gate.h). A lock is there from its first request to its last
 * release, so nobody has to make or free one.
 *
 * Shared requests that have waited long behind an exclusive one pass it. A program may rely on it: one that
 * holds a shared lock until another process has had one too is legal, whatever a third one asks for in
 * between. */
#ifndef HW_GHOST_LOCKS_H
#define HW_GHOST_LOCKS_H

#include "ghost/service.h"

#include <stdint.h>

enum hw_ghost_lock { HW_GHOST_LOCK_SHARED = 1, HW_GHOST_LOCK_EXCLUSIVE = 2 };

/* Words of LOCK and UNLOCK; with `id` the first says which lock. The others are of LOCK alone. */
enum {
    HW_GHOST_LOCK_WORD_TARGET,
    HW_GHOST_LOCK_WORD_KIND, /* enum hw_ghost_lock */
    HW_GHOST_LOCK_WORD_MORE, /* and the next one: 64 bits, for the targets behind the first */
};

/* Locks of several targets with one grant, when the last is held. They are taken in the order of the targets,
 * as by a process that waits for each before it asks for the next: programs that lock in one order do not
 * lock one another out. */
enum { HW_GHOST_LOCK_MORE = 64 };

static inline uint64_t hw_ghost_lock_more(const struct hw_ghost_command *command)
{
    return (uint32_t)command->words[HW_GHOST_LOCK_WORD_MORE] |
           (uint64_t)(uint32_t)command->words[HW_GHOST_LOCK_WORD_MORE + 1] << 32;
}

extern const struct hw_ghost_service hw_ghost_locks_service;

#endif
