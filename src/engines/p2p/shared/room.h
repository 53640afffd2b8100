/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: the staging memory of a ghost, into which it receives what others send to the user processes that it
 * serves. It makes the memory, and they map it. It is cut into units of one length in the whole job; the
 * units of a message are chained, and are of the length in which its data travel. PLACE: of the ghost
 * (hw_world_ghost_place). */
#ifndef HW_ENGINES_P2P_SHARED_ROOM_H
#define HW_ENGINES_P2P_SHARED_ROOM_H

#include "base/options.h"
#include "world/world.h"

#include <stddef.h>
#include <stdint.h>

enum {
    HW_P2P_UNIT_SHIFT_MIN = 12, /* 4 KiB */
    HW_P2P_UNIT_SHIFT_MAX = 18, /* 256 KiB */
    HW_P2P_UNITS_ENOUGH = 64,   /* of a node, before they get longer */
};

static inline unsigned hw_p2p_unit_shift(void)
{
    unsigned shift = HW_P2P_UNIT_SHIFT_MIN;
    while (shift < HW_P2P_UNIT_SHIFT_MAX && hw_options.staging_bytes >> shift > HW_P2P_UNITS_ENOUGH)
        shift++;
    return shift;
}

static inline uint64_t hw_p2p_unit_bytes(void) { return UINT64_C(1) << hw_p2p_unit_shift(); }

static inline uint64_t hw_p2p_units_of(uint64_t bytes)
{
    return (bytes + hw_p2p_unit_bytes() - 1) >> hw_p2p_unit_shift();
}

/* 0: the staging memory is too small for the node's ghosts. */
static inline uint32_t hw_p2p_room_units(int place)
{
    int node = hw_world.processes[hw_world.ghost_ranks[place]].node;
    return (uint32_t)((uint64_t)(hw_options.staging_bytes / hw_world.nodes[node].ghost_count) >>
                      hw_p2p_unit_shift());
}

/* What each user process of another node has of it from the start: of one half equal parts. */
static inline uint32_t hw_p2p_first_credit(int process, int place)
{
    int node = hw_world.processes[hw_world.ghost_ranks[place]].node;
    int near = hw_world.nodes[node].process_count - hw_world.nodes[node].ghost_count;
    if (hw_world.processes[process].node == node || hw_world.user_count == near)
        return 0;
    return hw_p2p_room_units(place) / 2 / (uint32_t)(hw_world.user_count - near);
}

/* In front of the units: which unit follows which one in a message. The ghost writes, before it says that the
 * message has arrived. */
static inline uint32_t *hw_p2p_room_chain(void *room) { return room; }

static inline size_t hw_p2p_room_front(int place)
{
    size_t bytes = (size_t)hw_p2p_room_units(place) * sizeof(uint32_t);
    return (bytes + 4095) / 4096 * 4096;
}

static inline size_t hw_p2p_room_bytes(int place)
{
    return hw_p2p_room_front(place) + ((size_t)hw_p2p_room_units(place) << hw_p2p_unit_shift());
}

static inline char *hw_p2p_room_unit(void *room, int place, uint32_t unit)
{
    return (char *)room + hw_p2p_room_front(place) + ((size_t)unit << hw_p2p_unit_shift());
}

#endif
