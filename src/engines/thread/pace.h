/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast data move when nothing holds them up: in the fastest stretch of a window. The caller serialises.
 */
#ifndef HW_ENGINES_THREAD_PACE_H
#define HW_ENGINES_THREAD_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Handshakes are shorter. */
enum { HW_PACE_MOVED_BYTES = 16 * 1024 };

/* All zero at first. */
struct hw_pace {
    uint64_t stretch_ns, stretch_bytes; /* when the stretch under way began, at how much */
    uint64_t best_ns, best_bytes;       /* the fastest stretch */
};

/* So much has moved so far; `window_bytes` is what the window is to move. */
void hw_pace_note(struct hw_pace *pace, uint64_t moved_bytes, uint64_t window_bytes, uint64_t now_ns);

static inline bool hw_pace_is_known(const struct hw_pace *pace) { return pace->best_ns != 0; }

/* How long so many bytes take, where it is known. */
uint64_t hw_pace_ns(const struct hw_pace *pace, uint64_t bytes);

#endif
