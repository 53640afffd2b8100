/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/staged.h"

#include "engines/p2p/shared/opened.h"
#include "engines/p2p/shared/room.h"
#include "world/world.h"

#include <string.h>

static char *memory_of(uint32_t unit)
{
    return hw_p2p_room_unit(hw_p2p_opened.room, hw_world_ghost_place(hw_world.rank), unit);
}

/* How many of the `left` units from this one on lie one behind the other. *next: the one after them. */
static uint32_t run_of(uint32_t unit, uint32_t left, uint32_t *next)
{
    const uint32_t *chain = hw_p2p_room_chain(hw_p2p_opened.room);
    uint32_t length = 1;
    while (length < left && chain[unit] == unit + 1) {
        unit++;
        length++;
    }
    *next = length < left ? chain[unit] : unit;
    return length;
}

void hw_p2p_staged_copy(const struct hw_p2p_entry *entry, uint64_t bytes, void *to)
{
    uint32_t unit = entry->first, left = entry->units, next;
    for (uint64_t done = 0; done < bytes && left > 0; unit = next) {
        uint32_t length = run_of(unit, left, &next);
        uint64_t part = (uint64_t)length * hw_p2p_unit_bytes();
        part = part < bytes - done ? part : bytes - done;
        memcpy((char *)to + done, memory_of(unit), (size_t)part);
        done += part;
        left -= length;
    }
}

char *hw_p2p_staged_whole(const struct hw_p2p_entry *entry)
{
    uint32_t next;
    return run_of(entry->first, entry->units, &next) == entry->units ? memory_of(entry->first) : NULL;
}
