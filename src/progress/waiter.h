/* SPDX-License-Identifier: BSD-3-Clause */
/* A waiter lets an agent that shares its core sleep until polling is worth it.
 *
 * Two triggers. Events: the agent sleeps on the transport's sockets; the messages of a handshake are
 * answered at once (within the limits of pacing.h), a bulk transfer is looked at once per gap; a slow tick is
 * the net under missed events. Tick: a timer, short at first, longer while nothing completes; for transports
 * without descriptors (shared memory, kernel-bypass networks). With TRIGGER=auto the run decides: a busy
 * period that waited for the sockets and heard none counts for the tick, one with events for the events.
 *
 * One agent owns a waiter; only hw_waiter_interrupt may be called by others. */
#ifndef HW_PROGRESS_WAITER_H
#define HW_PROGRESS_WAITER_H

#include "base/atomic.h"
#include "base/status.h"
#include "progress/events.h"
#include "progress/pacing.h"

#include <stdbool.h>
#include <stdint.h>

enum hw_reason { HW_REASON_EVENT, HW_REASON_TICK, HW_REASON_INTERRUPT };

struct hw_waiter {
    struct hw_events events;
    struct hw_pacing pacing;
    bool has_events;    /* the epoll sets could be made and are wanted */
    bool uses_events;   /* the trigger in force */
    bool is_bulk;       /* a transfer is under way: sleep a gap before the next look */
    uint64_t gap_ns;    /* that gap; the agent may set it before each wait */
    bool has_rounds;    /* what is pending has several rounds of messages (a collective); likewise */
    bool had_event;     /* in this busy period */
    uint64_t waited_ns; /* for events, in this busy period */
    int silent_periods; /* busy periods in a row that waited for events and had none */
    uint64_t period_ns; /* of the tick, or of the net under the events */
    uint64_t busy_since_ns;
    atomic_uint interrupts; /* others count up; the agent compares */
    unsigned interrupts_seen;
};

/* HW_OK always: without epoll only the tick is left. */
enum hw_status hw_waiter_open(struct hw_waiter *waiter);
void hw_waiter_close(struct hw_waiter *waiter);

/* A busy period begins: something is pending again. Looks for new sockets; back-offs start anew. */
void hw_waiter_begin(struct hw_waiter *waiter);
/* It is over: nothing is left to do. */
void hw_waiter_end(struct hw_waiter *waiter);

/* Sleeps until there is a reason to poll. */
enum hw_reason hw_waiter_wait(struct hw_waiter *waiter);

/* Tells what the polls after a wait brought. */
void hw_waiter_polled(struct hw_waiter *waiter, enum hw_reason reason, int completed);

/* After a poll: true if unread data waits on a socket, so that another poll will move something. */
bool hw_waiter_is_data_waiting(struct hw_waiter *waiter);

/* Sleeps for a fixed time, less if interrupted meanwhile. */
void hw_waiter_nap(struct hw_waiter *waiter, uint64_t nap_ns);

/* Ends the wait or nap of the agent soon. Any thread. */
void hw_waiter_interrupt(struct hw_waiter *waiter);

#endif
