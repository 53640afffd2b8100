/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress/helped.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "base/options.h"
#include "profile/record/counters.h"
#include "progress/trigger.h"
#include "shm/futex.h"

#include <stddef.h>

/* As the tick's first period (engines/thread/waiter.c). */
#define TICK_NS (500 * HW_NS_PER_US)

static struct hw_helped_word *own;
static _Atomic uint32_t unknown;
static uint32_t settled; /* of what matched: complete; the agent's */

void hw_helped_open(struct hw_helped_word *word) { own = word; }

void hw_helped_close(void) { own = NULL; }

bool hw_helped_is_open(void) { return own != NULL; }

void hw_helped_add_unknown(void) { hw_atomic_add_relaxed(&unknown, 1); }

void hw_helped_take_unknown(void)
{
    if (hw_atomic_load_relaxed(&unknown) > 0)
        hw_atomic_sub_relaxed(&unknown, 1);
}

void hw_helped_forget_unknown(void) { hw_atomic_store_relaxed(&unknown, 0); }

void hw_helped_settle(void)
{
    if (own)
        settled = hw_atomic_load_acquire(&own->matched);
}

void hw_helped_tell(struct hw_helped_word *word, uint32_t count)
{
    hw_atomic_add_release(&word->matched, count);
    hw_atomic_add_release(&word->word, 1);
    hw_futex_wake_shared(&word->word, 1);
}

static bool open_helped(struct hw_triggers *triggers)
{
    if (own == NULL)
        return false;
    triggers->word_seen = hw_atomic_load_acquire(&own->word);
    return true;
}

/* One source, the helper, of which there can be no more. */
static int refresh(struct hw_triggers *triggers)
{
    (void)triggers;
    return 1;
}

static bool is_moving(void) { return hw_atomic_load_acquire(&own->matched) != settled; }

static bool take_word(struct hw_triggers *triggers, uint32_t *seen)
{
    *seen = hw_atomic_load_acquire(&own->word);
    bool is_new = *seen != triggers->word_seen;
    triggers->word_seen = *seen;
    return is_new;
}

/* While a message that matched is moving, the agent looks after each of its naps: where the processor moves
 * the data nothing else tells of them. */
static enum hw_event wait_helped(struct hw_triggers *triggers, uint64_t timeout_ns)
{
    uint32_t seen;
    if (!take_word(triggers, &seen) && !is_moving() && timeout_ns > 0) {
        if (hw_atomic_load_relaxed(&unknown) > 0 && timeout_ns > TICK_NS)
            timeout_ns = TICK_NS;
        hw_futex_wait_shared(&own->word, seen, timeout_ns);
        if (take_word(triggers, &seen))
            HW_COUNT(helper_wakes);
    }
    return is_moving() ? HW_EVENT_BULK : HW_EVENT_NONE;
}

static void interrupt(struct hw_triggers *triggers)
{
    (void)triggers;
    hw_atomic_add_release(&own->word, 1);
    hw_futex_wake_shared(&own->word, 1);
}

const struct hw_trigger hw_trigger_helper = {
    .capacity = 2,
    .open = open_helped,
    .refresh = refresh,
    .wait = wait_helped,
    .interrupt = interrupt,
};
