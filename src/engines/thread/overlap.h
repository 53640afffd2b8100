/* SPDX-License-Identifier: BSD-3-Clause */
/* The window of overlap is open from the first pending operation to none. It keeps what the policy needs to
 * judge it. Any thread of the program may call, inside a hook. */
#ifndef HW_ENGINES_THREAD_OVERLAP_H
#define HW_ENGINES_THREAD_OVERLAP_H

#include "engines/thread/probe.h"
#include "objects/request.h"
#include "policy/policy.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* `thread` is the progress thread, whose CPU time is read; `allowed` are the cores it may use. Before the
 * first post. */
void hw_overlap_start(pthread_t thread, const cpu_set_t *allowed);

/* The program is about to post. */
void hw_overlap_posts(void);

/* Something was posted. Opens a window if none is open. *is_new: the thread has not been told of this window.
 */
enum hw_policy_post hw_overlap_posted(enum hw_request_kind kind, uint64_t bytes, bool is_receive,
                                      bool *is_new);

/* Nothing was posted after all. */
void hw_overlap_unposted(void);

/* In a window the program has posted another message, of which hw_overlap_posted() follows; or has sent so
 * much by a call that blocks, of which hw_overlap_blocked() does: true if the thread held back for it, and
 * may come now; or is about to receive by one. */
void hw_overlap_other(uint64_t bytes, bool is_receive);
bool hw_overlap_sent(uint64_t bytes, uint64_t began_ns);
void hw_overlap_receives(uint64_t bytes, uint64_t began_ns);

/* A window is open. */
bool hw_overlap_is_open(void);

/* Time the program's thread spent waking the progress thread in this window. */
void hw_overlap_add_wake(uint64_t wake_ns);

/* A door returned. Closes the window if nothing is outstanding any more. */
void hw_overlap_returned(uint64_t blocked_ns);

/* A blocking call that is no door returned. Counts if it began in the open window. */
void hw_overlap_blocked(uint64_t began_ns);

/* The program has paused the thread, or listens to it: the open window, and those that follow, say nothing
 * about what the thread brings, so the policy learns nothing from them. While listened to, the thread takes
 * part in every window. */
void hw_overlap_interfere(bool wants_pause, bool wants_listening);

/* The progress thread's first look in the open window, before any poll. Where what the window sends is in the
 * connections already, or data have come, the window becomes a probe (policy.h). */
void hw_overlap_looked_first(const struct hw_probe_wire *wire, uint64_t now_ns);

/* True once for each window: the thread has not looked yet. The progress thread. */
bool hw_overlap_is_first_look(void);

/* Later looks, while hw_overlap_wants_wire(). The progress thread. */
void hw_overlap_looked(const struct hw_probe_wire *wire, uint64_t now_ns);
bool hw_overlap_wants_wire(void);

/* While the open window is a probe and the thread has not begun: how long it should watch the connections
 * before it asks again; else 0. The progress thread. */
uint64_t hw_overlap_watch_ns(void);

/* In a probe, after watching. True if the thread is to go on watching; else the probe is over, and the thread
 * begins, or another window has opened. The progress thread. */
bool hw_overlap_goes_by_itself(const struct hw_probe_wire *wire, uint64_t now_ns);

/* How long the thread should sleep between two looks in the bulk of this window's transfer, as far as earlier
 * windows of the class tell. Any thread; relaxed. */
uint64_t hw_overlap_gap_ns(void);

/* True if a collective was posted in the open window: its rounds of messages wait for one another. Any
 * thread; relaxed. */
bool hw_overlap_has_rounds(void);

/* When something was last posted. Any thread; relaxed. */
uint64_t hw_overlap_last_post_ns(void);

/* True if the program waited at once in the last windows like the open one. Any thread; relaxed. */
bool hw_overlap_waits_at_once(void);

/* The same of a window in which the thread takes part; or there was none like it before. Any thread; relaxed.
 */
bool hw_overlap_expects_wait(void);

/* True if something was outstanding when the last window began. Any thread; relaxed. */
bool hw_overlap_is_continued(void);

/* For how long the thread still holds back for sends of the open window; 0: it does not. Where the time is
 * over and `may_end`, which is for the progress thread, it does no more. */
uint64_t hw_overlap_held_ns(bool may_end);

/* True while a window is open in which the thread should take part. Any thread; relaxed. */
bool hw_overlap_is_on(void);

#endif
