/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks that ghosts keep (locks.h), as user processes ask for them, and the gate, which is one of them: an
 * exclusive lock at the first ghost of the world. Any thread of a user process, inside a hook. All functions
 * return an MPI error code, not raised. */
#ifndef HW_GHOST_GATE_H
#define HW_GHOST_GATE_H

#include "base/status.h"
#include "ghost/channel.h"
#include "ghost/locks.h"

/* The lock of `target` in what has this `id`, at `ghost`, a rank in hw_world.all. */
int hw_ghost_gate_lock(int ghost, uint64_t id, int target, enum hw_ghost_lock lock);
/* The same of others at that ghost, too: of target + 1 + n for each bit n of `more` (locks.h). */
int hw_ghost_gate_lock_several(int ghost, uint64_t id, int target, uint64_t more, enum hw_ghost_lock lock);
/* The same of one without waiting for the grant. HW_DECLINED: too many are under way, and nothing was done.
 * *rc: the MPI error code. */
enum hw_status hw_ghost_gate_lock_later(int ghost, uint64_t id, int target, enum hw_ghost_lock lock,
                                        struct hw_ghost_later *later, int *rc);
int hw_ghost_gate_unlock(int ghost, uint64_t id, int target);

/* Between them no other process of the world tells ghosts to take part in a collective call: two of those
 * must never be under way at once with different orders at different ghosts. */
int hw_ghost_gate_enter(void);
int hw_ghost_gate_leave(void);

#endif
