/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress/trigger.h"

#include "base/atomic.h"
#include "shm/futex.h"

#include <stddef.h>

/* The tick. Its word is changed by an interrupt alone. */
static enum hw_event tick_wait(struct hw_triggers *triggers, uint64_t timeout_ns)
{
    if (timeout_ns > 0)
        hw_futex_wait(&triggers->interrupts, hw_atomic_load_acquire(&triggers->interrupts), timeout_ns);
    return HW_EVENT_NONE;
}

static void tick_interrupt(struct hw_triggers *triggers)
{
    hw_atomic_add_release(&triggers->interrupts, 1);
    hw_futex_wake(&triggers->interrupts, 1);
}

const struct hw_trigger hw_trigger_tick = {.wait = tick_wait, .interrupt = tick_interrupt};

/* The best first; where none of them can be had there is the tick. */
static const struct hw_trigger *const list[] = {&hw_trigger_events};

void hw_triggers_open(struct hw_triggers *triggers, bool is_tick_wanted)
{
    *triggers = (struct hw_triggers){.first = &hw_trigger_tick, .spare = &hw_trigger_tick};
    for (size_t i = 0; !is_tick_wanted && i < sizeof list / sizeof list[0]; i++) {
        if (list[i]->open(triggers)) {
            triggers->first = list[i];
            break;
        }
    }
    triggers->in_force = triggers->first;
}

void hw_triggers_open_as(struct hw_triggers *triggers, const struct hw_trigger *wanted)
{
    hw_triggers_open(triggers, true);
    if (wanted->open(triggers))
        triggers->first = triggers->in_force = wanted;
}

void hw_triggers_add_spare(struct hw_triggers *triggers, const struct hw_trigger *wanted)
{
    if (wanted->open(triggers))
        triggers->spare = wanted;
}

static bool is_there(const struct hw_triggers *triggers, const struct hw_trigger *trigger)
{
    return trigger->is_there == NULL || trigger->is_there(triggers);
}

void hw_triggers_close(struct hw_triggers *triggers)
{
    if (triggers->first->close && is_there(triggers, triggers->first))
        triggers->first->close(triggers);
    triggers->first = triggers->spare = triggers->in_force = &hw_trigger_tick;
}

void hw_triggers_use_tick(struct hw_triggers *triggers) { triggers->in_force = &hw_trigger_tick; }

bool hw_triggers_check(struct hw_triggers *triggers)
{
    if (!is_there(triggers, triggers->in_force))
        hw_triggers_use_tick(triggers);
    return hw_triggers_are_told(triggers);
}

bool hw_triggers_use_first(struct hw_triggers *triggers)
{
    triggers->in_force = triggers->first;
    return hw_triggers_check(triggers);
}

bool hw_triggers_use_spare(struct hw_triggers *triggers)
{
    triggers->in_force = triggers->spare;
    return hw_triggers_check(triggers);
}

int hw_triggers_refresh(struct hw_triggers *triggers)
{
    triggers->source_count = triggers->in_force->refresh ? triggers->in_force->refresh(triggers) : 0;
    return triggers->source_count;
}

void hw_triggers_add(struct hw_triggers *triggers, int fd)
{
    if (triggers->in_force->add)
        triggers->in_force->add(triggers, fd);
}

enum hw_event hw_triggers_wait(struct hw_triggers *triggers, uint64_t timeout_ns)
{
    return triggers->in_force->wait(triggers, timeout_ns);
}

void hw_triggers_nap(struct hw_triggers *triggers, uint64_t time_ns) { tick_wait(triggers, time_ns); }

void hw_triggers_rest(struct hw_triggers *triggers, uint64_t time_ns)
{
    if (triggers->in_force->rest)
        triggers->in_force->rest(triggers, time_ns);
    else
        hw_triggers_nap(triggers, time_ns);
}

bool hw_triggers_is_data_waiting(struct hw_triggers *triggers)
{
    return triggers->in_force->is_data_waiting && triggers->in_force->is_data_waiting(triggers);
}

void hw_triggers_ignore_unread(struct hw_triggers *triggers)
{
    if (triggers->in_force->ignore_unread)
        triggers->in_force->ignore_unread(triggers);
}

void hw_triggers_interrupt(struct hw_triggers *triggers)
{
    tick_interrupt(triggers); /* it naps, or it waits for the other: both are told */
    if (triggers->first != &hw_trigger_tick && is_there(triggers, triggers->first))
        triggers->first->interrupt(triggers);
    if (triggers->spare != &hw_trigger_tick)
        triggers->spare->interrupt(triggers);
}

bool hw_triggers_were_interrupted(struct hw_triggers *triggers)
{
    uint32_t interrupts = hw_atomic_load_acquire(&triggers->interrupts);
    bool result = interrupts != triggers->interrupts_seen;
    triggers->interrupts_seen = interrupts;
    return result;
}
