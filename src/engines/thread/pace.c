/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/pace.h"

/* A burst is shorter than this part of a window. */
enum { STRETCH_PARTS = 4 };

void hw_pace_note(struct hw_pace *pace, uint64_t moved_bytes, uint64_t window_bytes, uint64_t now_ns)
{
    uint64_t bytes = moved_bytes - pace->stretch_bytes, ns = now_ns - pace->stretch_ns;
    bool is_long = pace->stretch_ns && bytes >= HW_PACE_MOVED_BYTES && bytes >= window_bytes / STRETCH_PARTS;
    if (is_long && (pace->best_ns == 0 || ns * (pace->best_bytes >> 10) < pace->best_ns * (bytes >> 10))) {
        pace->best_ns = ns;
        pace->best_bytes = bytes;
    }
    if (pace->stretch_ns == 0 || is_long) {
        pace->stretch_ns = now_ns;
        pace->stretch_bytes = moved_bytes;
    }
}

uint64_t hw_pace_ns(const struct hw_pace *pace, uint64_t bytes)
{
    return (bytes >> 10) * pace->best_ns / (pace->best_bytes >> 10);
}
