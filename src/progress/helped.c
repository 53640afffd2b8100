/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress/helped.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "profile/record/counters.h"
#include "progress/trigger.h"
#include "shm/futex.h"

#include <stddef.h>

/* As the tick's first period (engines/thread/waiter.c). */
#define TICK_NS (500 * HW_NS_PER_US)

/* A match is the middle of a handshake: the receiver's answer, and what comes of it, are some 100 us away,
 * and nothing but the time tells of them where the sender's helper is slower. */
#define HANDSHAKE_NS (150 * HW_NS_PER_US)
enum { HANDSHAKE_LOOKS = 2 };

static struct hw_helped_word *own;
static _Atomic uint32_t unknown;
static atomic_bool is_silent;

/* The agent's. */
static uint32_t matched_seen;
static int looks; /* since the last match, at most HANDSHAKE_LOOKS */
static bool is_woken;

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

bool hw_helped_has_unknown(void) { return hw_atomic_load_relaxed(&unknown) > 0; }

void hw_helped_note_silence(bool is_silent_now)
{
    if (is_silent_now && !hw_atomic_load_relaxed(&is_silent))
        hw_log_info("the helper tells nothing of messages that come; the progress thread looks by a timer");
    hw_atomic_store_relaxed(&is_silent, is_silent_now);
}

bool hw_helped_is_silent(void) { return hw_atomic_load_relaxed(&is_silent); }

void hw_helped_settle(void)
{
    if (own)
        hw_atomic_store_release(&own->settled, hw_atomic_load_acquire(&own->matched));
}

bool hw_helped_take_woken(void)
{
    bool result = is_woken;
    is_woken = false;
    return result;
}

void hw_helped_match(struct hw_helped_word *word) { hw_atomic_add_release(&word->matched, 1); }

void hw_helped_wake(struct hw_helped_word *word)
{
    hw_atomic_add_release(&word->word, 1);
    hw_futex_wake_shared(&word->word, 1);
}

void hw_helped_spare(struct hw_helped_word *word) { hw_atomic_add_relaxed(&word->spared, 1); }

uint32_t hw_helped_spared(void) { return own ? hw_atomic_load_relaxed(&own->spared) : 0; }

static bool open_helped(struct hw_triggers *triggers)
{
    if (own == NULL)
        return false;
    triggers->word_seen = hw_atomic_load_acquire(&own->word);
    matched_seen = hw_atomic_load_acquire(&own->matched);
    return true;
}

/* One source, the helper, of which there can be no more. */
static int refresh(struct hw_triggers *triggers)
{
    (void)triggers;
    return 1;
}

/* Whether there was a match since the last time; *seen: the word before that was asked. */
static bool take_match(struct hw_triggers *triggers, uint32_t *seen)
{
    *seen = triggers->word_seen = hw_atomic_load_acquire(&own->word);
    uint32_t matched = hw_atomic_load_acquire(&own->matched);
    bool is_new = matched != matched_seen;
    matched_seen = matched;
    if (is_new)
        looks = 0;
    return is_new;
}

static bool sleep_until_match(struct hw_triggers *triggers, uint32_t seen, uint64_t time_ns)
{
    hw_futex_wait_shared(&own->word, seen, time_ns);
    bool is_new = take_match(triggers, &seen);
    if (is_new) {
        is_woken = true;
        HW_COUNT(helper_wakes);
    }
    return is_new;
}

/* Between two steps of a handshake. */
static enum hw_event wait_for_answer(struct hw_triggers *triggers, uint32_t seen)
{
    sleep_until_match(triggers, seen, HANDSHAKE_NS << looks);
    return ++looks < HANDSHAKE_LOOKS ? HW_EVENT_MESSAGE : HW_EVENT_BULK;
}

/* A message that matched is moving: where the processor moves the data nothing else tells of them, so the
 * agent looks soon for the rest of the handshake, and then after each of its naps. */
static enum hw_event wait_helped(struct hw_triggers *triggers, uint64_t timeout_ns)
{
    uint32_t seen;
    bool is_new = take_match(triggers, &seen);
    if (is_new || timeout_ns == 0)
        return is_new ? HW_EVENT_MESSAGE : HW_EVENT_NONE;
    if (hw_helped_is_moving(own))
        return looks < HANDSHAKE_LOOKS ? wait_for_answer(triggers, seen) : HW_EVENT_BULK;
    if (hw_atomic_load_relaxed(&unknown) > 0 && timeout_ns > TICK_NS)
        timeout_ns = TICK_NS;
    return sleep_until_match(triggers, seen, timeout_ns) ? HW_EVENT_MESSAGE : HW_EVENT_NONE;
}

static void rest(struct hw_triggers *triggers, uint64_t time_ns)
{
    uint32_t word = hw_atomic_load_acquire(&own->word), matched = hw_atomic_load_acquire(&own->matched);
    if (matched != matched_seen)
        return;
    hw_futex_wait_shared(&own->word, word, time_ns);
    (void)triggers;
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
    .rest = rest,
    .interrupt = interrupt,
};
