/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/movement.h"

void hw_movement_note(struct hw_movement *movement, const struct hw_probe_wire *wire, uint64_t window_bytes,
                      uint64_t now_ns)
{
    bool is_first = movement->looked_ns == 0;
    bool has_moved = !is_first && wire->moved_bytes >= movement->seen_bytes + HW_PACE_MOVED_BYTES;
    movement->has_wire = wire->has_wire;
    if (has_moved && movement->first_moved_ns == 0)
        movement->first_moved_ns = movement->looked_ns;
    if (has_moved)
        movement->last_moved_ns = now_ns;
    if (is_first)
        movement->first_seen_bytes = wire->moved_bytes;
    hw_pace_note(&movement->pace, wire->moved_bytes, window_bytes, now_ns);
    movement->looked_ns = now_ns;
    movement->seen_bytes = wire->moved_bytes;
}

uint64_t hw_movement_helped_ns(const struct hw_movement *movement, uint64_t natural_bytes)
{
    uint64_t bytes = movement->seen_bytes - movement->first_seen_bytes - natural_bytes;
    bool is_known = hw_pace_is_known(&movement->pace);
    return is_known ? hw_pace_ns(&movement->pace, bytes) : hw_movement_ns(movement);
}
