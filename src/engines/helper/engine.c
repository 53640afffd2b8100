/* SPDX-License-Identifier: BSD-3-Clause */
/* A helper that says when (papers/003), seen from a user process: each message that is tracked is noted for
 * the ghost, which wakes this process's progress thread when it has seen the message match. With
 * HEADWAY_TRIGGER=helper, or auto as long as no socket tells of messages. */
#include "engines/engine.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "engines/helper/helper.h"
#include "engines/helper/near.h"
#include "engines/helper/operations.h"
#include "ghost/bell.h"
#include "ghost/registry.h"
#include "progress/helped.h"
#include "real/constants.h"
#include "world/members.h"
#include "world/world.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the registry has one writer */
static struct hw_registry *registry;
static uint64_t full_since_ns; /* since when there has been no room in it; 0: there is. Under the lock */

/* For so long a ghost that is well never leaves a full ring unread. */
#define TOO_LONG_NS HW_NS_PER_S

static void prepare(void)
{
    bool may_help =
        hw_options.trigger == HW_OPTION_TRIGGER_HELPER || hw_options.trigger == HW_OPTION_TRIGGER_AUTO;
    if (hw_options.ghosts.count > 0 && may_help)
        hw_helper_prepare();
}

/* Before the thread opens its triggers: this engine comes first in the table. */
static enum hw_status start(bool has_world, uint64_t *least_bytes)
{
    (void)least_bytes; /* what the thread tracks */
    if (!has_world || !hw_helper_is_open())
        return HW_DECLINED;
    registry = hw_registry_own();
    if (registry == NULL)
        return HW_DECLINED;
    hw_helped_open(&registry->word);
    hw_helper_near_open(registry);
    return HW_OK;
}

static void stop(void)
{
    HW_COUNT_ADD(helper_wakes_spared, hw_helped_spared());
    hw_world_members_close();
    hw_helper_near_close();
    registry = NULL;
}

/* Of the message that is told of next. Some other operation may come in its place, where there is no room in
 * the tracker. */
static _Thread_local bool is_next_known;

static void posted(enum hw_request_kind kind, uint64_t bytes, bool is_receive)
{
    (void)kind, (void)bytes, (void)is_receive;
    if (!is_next_known && hw_helped_is_wanted())
        hw_helped_add_unknown();
    is_next_known = false;
}

static void ring(void) { hw_ghost_bell_ring(hw_ghost_bell_own()); }

static bool note_receive(const struct hw_engine_message *message, uint64_t comm)
{
    int source = message->peer == HW_ANY_SOURCE ? HW_REGISTRY_ANY : message->peer;
    int tag = message->tag == HW_ANY_TAG ? HW_REGISTRY_ANY : message->tag;
    HW_COUNT(receives_registered);
    if (hw_registry_post(registry, comm, source, tag, message->bytes))
        ring();
    return true;
}

/* A helper that shares its core is behind for some turns of the scheduler, and says nothing by it. */
static void tell_of_full_ring(void)
{
    static bool is_told;
    uint64_t now_ns = hw_clock_now_ns();
    full_since_ns = full_since_ns ? full_since_ns : now_ns;
    if (is_told || now_ns - full_since_ns < TOO_LONG_NS)
        return;
    hw_log_warn(
        "the helper does not read what this process tells it, so the progress thread looks by a timer; "
        "is the ghost stopped, or short of a core?");
    is_told = true;
}

/* Under the lock. False: there is no room for it. */
static bool note(const struct hw_registry_notice *notice)
{
    if (!hw_registry_notice(registry, notice)) {
        tell_of_full_ring();
        return false;
    }
    full_since_ns = 0;
    ring();
    return true;
}

bool hw_helper_note(const struct hw_registry_notice *notice)
{
    pthread_mutex_lock(&lock);
    bool is_noted = registry && note(notice);
    pthread_mutex_unlock(&lock);
    return is_noted;
}

static bool note_send(const struct hw_engine_message *message, const struct hw_world_members *members)
{
    const struct hw_registry_notice notice = {.comm = members->likeness,
                                              .from = hw_world.rank,
                                              .to = members->processes[message->peer],
                                              .source = members->rank,
                                              .tag = message->tag,
                                              .bytes = message->bytes,
                                              .kind = HW_REGISTRY_SEND};
    bool is_noted = hw_helper_near_send(&notice);
    if (!is_noted && (is_noted = note(&notice)))
        hw_helper_near_left();
    HW_COUNT_ADD(sends_announced, is_noted);
    return is_noted;
}

static void messaged(const struct hw_engine_message *message)
{
    if (!hw_helped_is_wanted())
        return;
    pthread_mutex_lock(&lock);
    const struct hw_world_members *members = hw_world_members_of(message->comm);
    bool is_known = false;
    if (members && message->is_receive)
        is_known = note_receive(message, members->likeness);
    else if (members && message->peer >= 0 && message->peer < members->size)
        is_known = note_send(message, members);
    pthread_mutex_unlock(&lock);
    is_next_known = is_known;
}

/* What small messages have completed was never matched: it is over at the latest when nothing is left. */
static void returned(uint64_t blocked_ns, int still_pending)
{
    (void)blocked_ns;
    bool is_over = !still_pending && hw_atomic_load_relaxed(&hw_request_outstanding) == 0;
    hw_helped_leave(is_over);
    if (!is_over)
        return;
    hw_helped_forget_unknown();
    hw_helped_settle();
    pthread_mutex_lock(&lock);
    hw_helper_near_settle();
    hw_registry_end_messages(registry);
    pthread_mutex_unlock(&lock);
}

static void blocked(uint64_t began_ns)
{
    (void)began_ns;
    hw_helped_leave(hw_atomic_load_relaxed(&hw_request_outstanding) == 0);
}

static void waits(unsigned looked)
{
    (void)looked;
    if (!hw_helper_near_is_owed())
        return;
    pthread_mutex_lock(&lock);
    hw_helper_near_look_again();
    pthread_mutex_unlock(&lock);
}

static enum hw_status begin(void) { return hw_helper_is_open() ? HW_OK : HW_DECLINED; }

const struct hw_engine hw_engine_helper = {
    .name = "helper",
    .prepare = prepare,
    .begin = begin,
    .rma = &hw_helper_rma_calls,
    .epoch = &hw_helper_epoch_calls,
    .window = &hw_helper_window_calls,
    .start = start,
    .stop = stop,
    .posted = posted,
    .messaged = messaged,
    .returned = returned,
    .waits = waits,
    .blocked = blocked,
};
