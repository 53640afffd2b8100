/* SPDX-License-Identifier: BSD-3-Clause */
/* A waiter lets the progress thread sleep until polling is worth it: how it uses the triggers of
 * progress/trigger.h.
 *
 * Where it is told of events, the messages of a handshake are answered at once (within the limits of
 * pacing.h), a bulk transfer is looked at once per gap, and a slow timer is the net under missed events. The
 * tick, for transports without descriptors (shared memory, kernel-bypass networks), is short at first, longer
 * while nothing completes. With TRIGGER=auto the run decides: a busy period that waited for events and had
 * none counts for the tick, one with events for the events. With ghosts in the job a helper has the tick's
 * place.
 *
 * The thread owns it; others may call hw_triggers_interrupt alone. */
#ifndef HW_ENGINES_THREAD_WAITER_H
#define HW_ENGINES_THREAD_WAITER_H

#include "progress/pacing.h"
#include "progress/trigger.h"

#include <stdbool.h>
#include <stdint.h>

enum hw_told_by { HW_TOLD_BY_NOBODY, HW_TOLD_BY_SOCKETS, HW_TOLD_BY_HELPER };

enum hw_reason { HW_REASON_EVENT, HW_REASON_TICK, HW_REASON_INTERRUPT };

struct hw_waiter {
    struct hw_triggers triggers;
    struct hw_pacing pacing;
    bool is_bulk;        /* a transfer is under way: sleep a gap before the next look */
    uint64_t gap_ns;     /* that gap; the agent may set it before each wait */
    bool has_rounds;     /* what is pending has several rounds of messages (a collective); likewise */
    bool is_told;        /* the helper ended the last wait, and the thread has not had its turn since */
    bool had_event;      /* in this busy period */
    bool has_completed;  /* likewise, by its looks */
    int mute_periods;    /* in a row, in which something completed and the helper had told nothing */
    int unheard_periods; /* in a row, in which the net looked and the helper had told nothing */
    int burst_looks;     /* of the net, that are still to follow its last one soon */
    bool had_net;        /* in this busy period the net looked */
    uint64_t waited_ns;  /* for events, in this busy period */
    int silent_periods;  /* busy periods in a row that waited for events and had none */
    _Atomic(const char *)
        why;            /* what is in force is so, where TRIGGER=auto chose; else empty; static; relaxed */
    uint64_t period_ns; /* of the tick, or of the net under the events */
    uint64_t net_ns;    /* of the net after a burst */
    uint64_t busy_since_ns;
    uint64_t moved_ns; /* when last something completed, or began: helper only */
};

/* hw_triggers_close(&waiter->triggers) undoes it. */
void hw_waiter_open(struct hw_waiter *waiter);

/* A busy period begins: something is pending again. Looks for new sources; back-offs start anew. */
void hw_waiter_begin(struct hw_waiter *waiter);
/* By what it is told in this one; NOBODY: it ticks. */
enum hw_told_by hw_waiter_told_by(const struct hw_waiter *waiter);
/* One is over and the next has begun, and the agent saw nothing between. */
void hw_waiter_renew(struct hw_waiter *waiter);
/* It is over: nothing is left to do. */
void hw_waiter_end(struct hw_waiter *waiter);

/* Sleeps until there is a reason to poll. */
enum hw_reason hw_waiter_wait(struct hw_waiter *waiter);

/* The program is inside MPI. Where a helper tells, sleeps as hw_helped_rest_inside does, since its word ends
 * no other sleep, and returns true. */
bool hw_waiter_rest_inside(const struct hw_waiter *waiter, uint64_t time_ns);

/* Tells what the polls after a wait brought. */
void hw_waiter_polled(struct hw_waiter *waiter, enum hw_reason reason, int completed);

#endif
