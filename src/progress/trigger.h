/* SPDX-License-Identifier: BSD-3-Clause */
/* A trigger ends the sleep of an agent that shares its core. Progress thread, ghosts and flushes all sleep
 * here (doc/adr/0028); how long, and when rather not, is their own policy.
 *
 * Each trigger is one table of functions, and one entry in the list of trigger.c. Events: the transport's
 * sockets, and descriptors that are added. Helper: the word of a ghost (helped.h), where it is asked for by
 * name or added as a spare one. Tick: time alone, which every machine has. An agent owns its
 * `struct hw_triggers` and uses one of them at a time; only hw_triggers_interrupt may be called by others. */
#ifndef HW_PROGRESS_TRIGGER_H
#define HW_PROGRESS_TRIGGER_H

#include "base/visibility.h"
#include "progress/events.h"

#include <stdbool.h>
#include <stdint.h>

enum hw_event {
    HW_EVENT_NONE,    /* the time was up, or an interrupt */
    HW_EVENT_MESSAGE, /* little to read: a step of a handshake, or a small message */
    HW_EVENT_BULK,    /* much to read, or room to write again: a transfer is under way */
};

struct hw_triggers;

/* A function that a trigger does not need is NULL; each must have `wait` and `interrupt`. What they promise
 * stands below, beside the function of struct hw_triggers that calls them. */
struct hw_trigger {
    int capacity;                               /* sources that it can hear */
    bool (*open)(struct hw_triggers *triggers); /* false: this machine does not have it */
    void (*close)(struct hw_triggers *triggers);
    /* False once the program has closed all descriptors, as daemons do, ours with them: what has their
     * numbers now is the program's. Nothing else here may be called then. Any thread. */
    bool (*is_there)(const struct hw_triggers *triggers);
    int (*refresh)(struct hw_triggers *triggers);
    void (*add)(struct hw_triggers *triggers, int fd);
    enum hw_event (*wait)(struct hw_triggers *triggers, uint64_t timeout_ns);
    void (*rest)(struct hw_triggers *triggers, uint64_t time_ns);
    bool (*is_data_waiting)(struct hw_triggers *triggers);
    void (*ignore_unread)(struct hw_triggers *triggers);
    void (*interrupt)(struct hw_triggers *triggers);
};

extern HW_HIDDEN const struct hw_trigger hw_trigger_events, hw_trigger_helper, hw_trigger_tick;

struct hw_triggers {
    const struct hw_trigger *first;    /* of the list that this machine has, unless the tick is wanted */
    const struct hw_trigger *spare;    /* where the first tells nothing: the tick, or what was added */
    const struct hw_trigger *in_force; /* one of them, or the tick */
    int source_count;                  /* at the last refresh */
    struct hw_events events;
    _Atomic uint32_t interrupts; /* others count up; the agent compares */
    uint32_t interrupts_seen;
    uint32_t word_seen; /* of the helper (helped.h) */
};

/* The first trigger that this machine has is in force; the tick if it has no other, or is wanted. */
void hw_triggers_open(struct hw_triggers *triggers, bool is_tick_wanted);
/* This one; the tick where it cannot be had. */
void hw_triggers_open_as(struct hw_triggers *triggers, const struct hw_trigger *wanted);
void hw_triggers_close(struct hw_triggers *triggers);

/* Adds one that is asked where the first tells nothing; the tick stays where it cannot be had. Before others
 * may interrupt. */
void hw_triggers_add_spare(struct hw_triggers *triggers, const struct hw_trigger *wanted);

/* From now on: what was in force at first, or the spare one (returns what hw_triggers_check does), or the
 * tick alone. */
bool hw_triggers_use_first(struct hw_triggers *triggers);
bool hw_triggers_use_spare(struct hw_triggers *triggers);
void hw_triggers_use_tick(struct hw_triggers *triggers);

/* Whether more than the tick is in force, so that something is to tell the agent. */
static inline bool hw_triggers_are_told(const struct hw_triggers *triggers)
{
    return triggers->in_force != &hw_trigger_tick;
}

/* The same after a look whether the trigger in force is still there, else the tick is. One fstat(2). */
bool hw_triggers_check(struct hw_triggers *triggers);

/* Looks for new sources, if there may be any. Returns how many are heard. */
int hw_triggers_refresh(struct hw_triggers *triggers);

/* False: there may be sources that nobody hears. */
static inline bool hw_triggers_hear_all(const struct hw_triggers *triggers)
{
    return triggers->source_count < triggers->in_force->capacity;
}

/* One more descriptor wakes the agent too; somebody else reads and closes it. */
void hw_triggers_add(struct hw_triggers *triggers, int fd);

/* Sleeps until an event, at most timeout_ns; 0: was there one? Async-signal-safe, as are the next two. */
enum hw_event hw_triggers_wait(struct hw_triggers *triggers, uint64_t timeout_ns);

/* Sleeps for a fixed time, less if interrupted meanwhile. */
void hw_triggers_nap(struct hw_triggers *triggers, uint64_t time_ns);

/* The same; a trigger that can tell the first message of a transfer from its bulk ends it for such a message.
 */
void hw_triggers_rest(struct hw_triggers *triggers, uint64_t time_ns);

/* True if a source has unread data, so that another poll will move something. */
bool hw_triggers_is_data_waiting(struct hw_triggers *triggers);

/* Called when data was still waiting after many polls. A source whose unread bytes have not changed since the
 * last such call is not the transport's (the polls do not read it): it is no longer asked about. */
void hw_triggers_ignore_unread(struct hw_triggers *triggers);

/* Ends the wait or nap of the agent soon. Any thread. */
void hw_triggers_interrupt(struct hw_triggers *triggers);

/* Whether somebody did since the agent last asked. */
bool hw_triggers_were_interrupted(struct hw_triggers *triggers);

#endif
