/* SPDX-License-Identifier: BSD-3-Clause */
/* What the thread has seen move on the connections in one window. The caller serialises. */
#ifndef HW_ENGINES_THREAD_MOVEMENT_H
#define HW_ENGINES_THREAD_MOVEMENT_H

#include "engines/thread/pace.h"
#include "engines/thread/probe.h"

#include <stdbool.h>
#include <stdint.h>

/* All zero at first. */
struct hw_movement {
    bool has_wire;                          /* bytes can be counted: the last look said so */
    uint64_t looked_ns, seen_bytes;         /* the last look; 0: none */
    uint64_t first_seen_bytes;              /* the first one */
    uint64_t first_moved_ns, last_moved_ns; /* looks between which bytes moved */
    struct hw_pace pace;
};

/* A look; the window is to move so many bytes. */
void hw_movement_note(struct hw_movement *movement, const struct hw_probe_wire *wire, uint64_t window_bytes,
                      uint64_t now_ns);

static inline uint64_t hw_movement_bytes(const struct hw_movement *movement)
{
    return movement->looked_ns ? movement->seen_bytes - movement->first_seen_bytes : 0;
}

static inline uint64_t hw_movement_ns(const struct hw_movement *movement)
{
    return movement->last_moved_ns - movement->first_moved_ns;
}

/* For how long what moved, but for the first `natural_bytes`, was on the wire. */
uint64_t hw_movement_helped_ns(const struct hw_movement *movement, uint64_t natural_bytes);

#endif
