/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the wire while the program waits, from a thread of its own: did both directions move at once, or
 * one after the other? Looks before and after a wait cannot tell: 8 ms of sending and then 8 ms of receiving
 * are, from outside, a partner that was 8 ms late and 8 ms of both.
 *
 *   sent      =========.........      a run: only one direction moved, from look to look
 *   received  .........=========      alone: what the runs of both directions have in common, here all of one
 *   looks     | | | |  |   |    |
 *
 * The thread is made when a wait is watched for the first time. A wait is watched only while the looks in it
 * take no more than a small part of the run's time, and the thread sleeps between them. It calls no MPI.
 *
 * Internal to src/profile; the caller holds the lock (lock.h), under which the thread looks too. */
#ifndef HW_PROFILE_WAITS_WIRE_WATCH_H
#define HW_PROFILE_WAITS_WIRE_WATCH_H

#include "profile/waits/bytes.h"

#include <stdbool.h>
#include <stdint.h>

/* Sets how the wire is read; looks may take a small part of the time from `began_ns` on. */
void hw_watch_prepare(bool (*read)(struct hw_profile_wire *wire, bool is_first), uint64_t began_ns);

/* The program begins to wait; the wire is `now`. Nothing if that is not to be paid for, or there is no
 * thread: one refused, or a child after fork. */
void hw_watch_begin(const struct hw_profile_wire *now, uint64_t now_ns);

/* What was seen of one wait. */
struct hw_watch_seen {
    bool is_known;          /* it was looked at in between */
    uint64_t alone;         /* bytes one direction moved after the other, that could have moved with it */
    uint64_t bytes, run_ns; /* of the longest run */
};

/* ... and has waited; the wire is `now`. */
struct hw_watch_seen hw_watch_end(const struct hw_profile_wire *now, uint64_t now_ns);

struct hw_watch_look {
    uint64_t at_ns; /* before it */
    struct hw_profile_wire wire;
    uint64_t done_ns; /* after it; at_ns is used if it is earlier */
};

/* The same of looks, in order. */
struct hw_watch_seen hw_watch_judge(const struct hw_watch_look *looks, int count);

/* Bytes that moved between two looks; a connection that was closed meanwhile takes its bytes along. */
struct hw_profile_wire hw_wire_moved(const struct hw_profile_wire *from, const struct hw_profile_wire *to);
uint64_t hw_wire_busier(const struct hw_profile_wire *moved);
uint64_t hw_wire_lesser(const struct hw_profile_wire *moved);

#endif
