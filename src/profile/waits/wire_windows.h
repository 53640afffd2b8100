/* SPDX-License-Identifier: BSD-3-Clause */
/* When bytes moved: while the program computed, or only while it waited.
 *
 * A window opens when something large is posted, and ends when everything large posted in it is complete. A
 * program may complete it in one door or in many (one MPI_Wait after another, tests in a loop): around each
 * door the wire is looked at, and the door's share of the window is added to its call site.
 *
 *   post   compute        Wait       pack   Wait
 *   ----|--------------|==========|-------|=======|      each | is a look
 *        idle wire: 8    moves 5           moves 6       usable: 5 of the first, 3 of the second
 *
 * Idle wire is given to what moves next, once: of two waits of 5 and 6 ms after 8 ms of idle wire, 8 ms were
 * to be saved and 3 are bandwidth. For that the rate of the wire must be known, so doors are kept aside until
 * there are many, or the record is written.
 *
 * Internal to src/profile; the caller holds the lock (lock.h). */
#ifndef HW_PROFILE_WAITS_WIRE_WINDOWS_H
#define HW_PROFILE_WAITS_WIRE_WINDOWS_H

#include "profile/callers/sites.h"
#include "profile/waits/bytes.h"

#include <stdbool.h>
#include <stdint.h>

/* A moment of one thread of the program. */
struct hw_wire_moment {
    const void *thread; /* names it */
    uint64_t now_ns;
    uint64_t mpi_ns; /* time it has spent in MPI by then, waiting included */
};

/* Sets how the wire is read; looks may take a small part of the time from `began_ns` on. */
void hw_wire_prepare(bool (*read)(struct hw_profile_wire *wire, bool is_first), uint64_t began_ns);

/* Something was posted by this function of MPI (a name without the prefix), perhaps of unknown size. Returns
 * the window it belongs to, which hw_wire_completed is told; 0 for none. */
unsigned hw_wire_posted(const struct hw_wire_moment *moment, const char *function, uint64_t bytes,
                        bool is_unsized);

/* A request of this window is complete or forgotten. */
void hw_wire_completed(unsigned window);

/* The thread enters a door for what it posted: one in which it waits, or the first of tests in a loop. True
 * if hw_wire_leave must follow. */
bool hw_wire_enter(const struct hw_wire_moment *moment);

/* ... and leaves it after `took_ns` (the moment is after the call). `longest_ns`: computed at most while one
 * of the door's requests was pending; `bytes`: of the requests it completed. */
void hw_wire_leave(const struct hw_wire_moment *moment, struct hw_profile_site *site, uint64_t took_ns,
                   uint64_t longest_ns, uint64_t bytes);

/* Adds the doors kept aside to their sites. */
void hw_wire_settle(void);

/* What the process has sent and received over TCP so far, in bytes; 0: nothing that can be seen. While the
 * program goes on, connections made since the last look are not among it (is_last is false). */
uint64_t hw_wire_so_far(bool is_last);

/* The most that was seen to move one way, in bytes a second; 0: nothing long enough. */
uint64_t hw_wire_fastest(void);

#endif
