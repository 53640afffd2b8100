/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the program spends its time in MPI: every outermost call, summed by call site, function and power of
 * two of its bytes; and for requests, how long the program computed while they were pending and how long it
 * then waited.
 *
 * Nothing of this runs unless HEADWAY_PROFILE is set: entries of a thread come here only while its mark in
 * hw_inside says so (progress/inside.h). A profiled call takes two readings of the clock and is noted; notes
 * are added up many at once (threads.h). One that posts or completes requests takes a short lock, or two.
 *
 * Any thread may call. Requests are known by their handle as a number; no MPI is needed here. */
#ifndef HW_PROFILE_CALLS_CALLS_H
#define HW_PROFILE_CALLS_CALLS_H

#include "base/clock.h"
#include "profile/calls/threads.h"
#include "profile/waits/bytes.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads HEADWAY_PROFILE and makes the table, before the process's first call; later calls do nothing. `read`
 * is asked now and then: what moved while the program computed, and what only while it waited? It returns
 * false where there is nothing to read; looks that follow one with is_first are compared with it. `is_layer`
 * knows shared objects between a program and its MPI; NULL: there are none (profile/callers/callers.h). */
void hw_profile_prepare(bool (*read)(struct hw_profile_wire *wire, bool is_first),
                        bool (*is_layer)(const char *path));

/* After hw_profile_prepare. */
bool hw_profile_is_on(void);

/* Around the life of a thread that calls MPI, after hw_profile_prepare. False: its calls are not profiled,
 * and it calls nothing of the rest. */
bool hw_profile_thread_begin(void);
void hw_profile_thread_end(void);

/* The calling thread's calls are not profiled from here on, and are again. Requests that are pending are not
 * followed any further. */
void hw_profile_pause(void);
void hw_profile_resume(void);

/* How long that was, all threads; negative: it was not. */
double hw_profile_paused_s(void);

/* Around fork: the child finds the lock free. */
void hw_profile_fork_prepare(void);
void hw_profile_fork_release(void);

/* The time by which calls are profiled (hw_clock_fast_ns). */
static inline uint64_t hw_profile_now_ns(void) { return hw_clock_fast_ns(); }

/* A call that leaves nothing pending, made from `began_ns` until now. `function` is a literal: its address is
 * part of the key. `site`: where the program goes on after the call. hw_thread_note is the same for a call on
 * a communicator. Returns what hw_callers_find gives for the site, which is to be asked once a call. */
const void *hw_profile_note(uint64_t began_ns, const char *function, const void *site, uint64_t bytes);

/* A probe that does not block, or the like. Those that follow one another in vain are one wait with the one
 * that finds a message. `note`: as hw_thread_note takes it; `who`: of one in vain, nobody. */
void hw_profile_probed(const struct hw_profile_note *note, bool is_found, struct hw_delay_who who);

/* Requests a door holds, out of everybody else's reach while it does. */
struct hw_profile_request;
struct hw_profile_held {
    uint64_t handle;
    struct hw_profile_request *request;
    int index; /* in the door's array */
    int took; /* the rank of the communicator it took from, where the door tells and that was open; else -1 */
    bool is_complete;
};

enum { HW_PROFILE_INLINE_HELD_COUNT = 16 };

/* One call in progress; on the stack of the entry. */
struct hw_profile_call {
    const char *function;
    const void *site;
    uint64_t bytes;
    uint64_t entered_ns;
    uint64_t began_ns; /* of the real call; later than entered_ns if the wire was looked at */
    uint64_t took_ns;
    struct hw_profile_comm *comm; /* NULL: the call names none */
    struct hw_delay_who who;      /* of a post or a wait for a partner */
    int held_count, held_capacity;
    bool is_unsized; /* set after hw_profile_enter of a post whose arguments do not tell its bytes */
    bool is_sampled;
    bool wants_sources; /* a request that it holds takes from whoever sends first */
    struct hw_profile_held *held, inline_held[HW_PROFILE_INLINE_HELD_COUNT];
};

/* Before and after the real call of a post, a start or a door. One of the functions below follows and counts
 * it. */
void hw_profile_enter(struct hw_profile_call *call, const char *function, const void *site, uint64_t bytes);
void hw_profile_leave(struct hw_profile_call *call);

/* After hw_profile_leave of a call that names a communicator: its entry (profile/callers/comms.h). */
static inline void hw_profile_set_comm(struct hw_profile_call *call, struct hw_profile_comm *comm)
{
    call->comm = comm;
}

/* A call that leaves nothing pending. */
void hw_profile_count(struct hw_profile_call *call);

/* A call that posted this request, or (is_persistent) defined it. */
void hw_profile_posted(struct hw_profile_call *call, uint64_t handle, bool is_persistent);

/* A call that started these persistent requests: hw_profile_start for each, then hw_profile_count. */
void hw_profile_start(struct hw_profile_call *call, uint64_t handle);

/* A door: after hw_profile_enter, hw_profile_hold for each of its handles and then hw_profile_wait, which
 * takes those that are followed out of everybody else's reach and leaves the others out of call->held. Tests
 * that follow one another without anything computed between count as one wait. After hw_profile_leave it
 * marks what is complete in call->held, and releases. */
void hw_profile_hold(struct hw_profile_call *call, int index, uint64_t handle);
void hw_profile_wait(struct hw_profile_call *call, bool is_blocking);
void hw_profile_release(struct hw_profile_call *call, bool is_blocking);

/* The one that was held at this index of the door's array; NULL: it is not followed. */
struct hw_profile_held *hw_profile_held_at(struct hw_profile_call *call, int index);

/* The request is about to be freed. */
void hw_profile_forget(uint64_t handle);

/* True while any request is followed: a door need not look otherwise. */
bool hw_profile_is_any_pending(void);

/* Time in MPI of all threads so far. */
uint64_t hw_profile_mpi_ns(void);

/* Fills the profile in, and what else is told of this process with HEADWAY_PROFILE; absent if profiling is
 * off. What it points to is valid until the next call. Called by who writes the record, one at a time; unless
 * `is_last`, the program may go on meanwhile. */
void hw_profile_describe(struct hw_record_process *process, bool is_last);

#endif
