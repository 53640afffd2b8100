/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/gate.h"

#include "ghost/channel.h"
#include "world/world.h"

/* No engine has such a thing. */
#define GATE_ID UINT64_MAX

static struct hw_ghost_command request_of(uint64_t id, int target, enum hw_ghost_lock lock)
{
    return (struct hw_ghost_command){
        .tag = HW_GHOST_TAG_LOCK,
        .id = id,
        .words = {[HW_GHOST_LOCK_WORD_TARGET] = target, [HW_GHOST_LOCK_WORD_KIND] = (int32_t)lock}};
}

int hw_ghost_gate_lock(int ghost, uint64_t id, int target, enum hw_ghost_lock lock)
{
    struct hw_ghost_command command = request_of(id, target, lock);
    return hw_ghost_ask(ghost, &command);
}

int hw_ghost_gate_lock_several(int ghost, uint64_t id, int target, uint64_t more, enum hw_ghost_lock lock)
{
    struct hw_ghost_command command = request_of(id, target, lock);
    command.words[HW_GHOST_LOCK_WORD_MORE] = (int32_t)(uint32_t)more;
    command.words[HW_GHOST_LOCK_WORD_MORE + 1] = (int32_t)(uint32_t)(more >> 32);
    return hw_ghost_ask(ghost, &command);
}

enum hw_status hw_ghost_gate_lock_later(int ghost, uint64_t id, int target, enum hw_ghost_lock lock,
                                        struct hw_ghost_later *later, int *rc)
{
    struct hw_ghost_command command = request_of(id, target, lock);
    return hw_ghost_ask_later(ghost, &command, later, rc);
}

int hw_ghost_gate_unlock(int ghost, uint64_t id, int target)
{
    struct hw_ghost_command command = {
        .tag = HW_GHOST_TAG_UNLOCK, .id = id, .words = {[HW_GHOST_LOCK_WORD_TARGET] = target}};
    return hw_ghost_tell(ghost, &command);
}

int hw_ghost_gate_enter(void)
{
    return hw_ghost_gate_lock(hw_world.ghost_ranks[0], GATE_ID, 0, HW_GHOST_LOCK_EXCLUSIVE);
}

int hw_ghost_gate_leave(void) { return hw_ghost_gate_unlock(hw_world.ghost_ranks[0], GATE_ID, 0); }
