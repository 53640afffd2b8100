/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress/helped.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "profile/record/counters.h"
#include "progress/inside.h"
#include "progress/trigger.h"
#include "shm/futex.h"

#include <stddef.h>

/* As the tick's first period (engines/thread/waiter.c). */
#define TICK_NS (500 * HW_NS_PER_US)

/* A match is the middle of a handshake: the receiver's answer, and what comes of it, are some 100 us away,
 * and nothing but the time tells of them where the sender's helper is slower. */
#define HANDSHAKE_NS (150 * HW_NS_PER_US)
enum { HANDSHAKE_LOOKS = 2 };

/* From a look for an operation of others to the next, each twice as long: of a short one the answer may ask
 * for another message, a long one goes in parts. */
#define ANSWER_NS (100 * HW_NS_PER_US)
enum { SHORT_LOOKS = 1, LONG_LOOKS = 6 };

static struct hw_helped_word *own;
static _Atomic uint32_t unknown;
static atomic_bool is_silent, is_wanted;

/* The agent's. */
static uint32_t matched_seen, told_seen;
static int looks;                        /* since the last match, at most HANDSHAKE_LOOKS */
static int looks_for_others, looks_made; /* still to come, and already, since the agent was last asked */
static bool is_woken;

void hw_helped_open(struct hw_helped_word *word)
{
    own = word;
    hw_atomic_store_relaxed(&unknown, 0);
    hw_atomic_store_relaxed(&is_wanted, true);
}

void hw_helped_close(void)
{
    own = NULL;
    hw_atomic_store_relaxed(&is_wanted, false);
}

bool hw_helped_is_open(void) { return own != NULL; }

void hw_helped_add_unknown(void) { hw_atomic_add_relaxed(&unknown, 1); }

void hw_helped_forget_unknown(void) { hw_atomic_store_relaxed(&unknown, 0); }

/* What is pending already when it begins nobody has noted. */
void hw_helped_want(bool is_wanted_now)
{
    if (own && is_wanted_now && !hw_atomic_load_relaxed(&is_wanted))
        hw_helped_add_unknown();
    hw_atomic_store_relaxed(&is_wanted, is_wanted_now);
}

bool hw_helped_is_wanted(void) { return hw_atomic_load_relaxed(&is_wanted) && !hw_helped_is_lost(); }

void hw_helped_lose(struct hw_helped_word *word)
{
    hw_atomic_store_release(&word->is_lost, 1);
    hw_helped_wake(word);
}

bool hw_helped_is_lost(void) { return own && hw_atomic_load_acquire(&own->is_lost) != 0; }

bool hw_helped_has_unknown(void) { return hw_atomic_load_relaxed(&unknown) > 0; }

bool hw_helped_take_told(void)
{
    uint32_t matched = hw_atomic_load_relaxed(&own->matched);
    bool result = matched != told_seen;
    told_seen = matched;
    return result;
}

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

bool hw_helped_ask(struct hw_helped_word *word, bool is_long)
{
    if (is_long)
        hw_atomic_store_relaxed(&word->is_long, 1);
    if (hw_helped_is_asked(word))
        return false;
    hw_atomic_add_seq_cst(&word->asked, 1);
    return true;
}

bool hw_helped_is_listened(void) { return own && hw_helped_is_wanted() && !hw_helped_is_silent(); }

bool hw_helped_is_own_asked(void) { return hw_helped_is_listened() && hw_helped_is_asked(own); }

void hw_helped_spare(struct hw_helped_word *word) { hw_atomic_add_relaxed(&word->spared, 1); }

uint32_t hw_helped_spared(void) { return own ? hw_atomic_load_relaxed(&own->spared) : 0; }

void hw_helped_leave(bool is_over)
{
    if (own == NULL || !hw_helped_take_held(own))
        return;
    if (is_over) {
        hw_helped_spare(own);
        return;
    }
    hw_inside_leave(&hw_inside); /* it may get this core at once, and must not take us to be in MPI */
    hw_helped_wake(own);
    hw_inside_enter(&hw_inside);
}

void hw_helped_rest_inside(uint64_t time_ns)
{
    uint32_t seen = hw_atomic_load_acquire(&own->word);
    if (hw_helped_is_moving(own))
        hw_helped_hold(own);
    if (hw_inside_any())
        hw_futex_wait_shared(&own->word, seen, time_ns);
}

static bool open_helped(struct hw_triggers *triggers)
{
    if (own == NULL)
        return false;
    triggers->word_seen = hw_atomic_load_acquire(&own->word);
    matched_seen = told_seen = hw_atomic_load_acquire(&own->matched);
    return true;
}

/* One source, the helper, of which there can be no more. */
static int refresh(struct hw_triggers *triggers)
{
    (void)triggers;
    return 1;
}

/* Whether somebody asked since the last time. From here on others may ask again, and the agent looks. */
static bool take_question(void)
{
    uint32_t asked = hw_atomic_load_seq_cst(&own->asked);
    if (asked == hw_atomic_load_relaxed(&own->answered))
        return false;
    hw_atomic_store_seq_cst(&own->answered, asked);
    looks_for_others = hw_atomic_exchange_relaxed(&own->is_long, 0) ? LONG_LOOKS : SHORT_LOOKS;
    looks_made = 0;
    HW_COUNT(target_looks);
    return true;
}

/* Whether there was a match, or a question, since the last time; *seen: the word before that was asked. */
static bool take_news(struct hw_triggers *triggers, uint32_t *seen)
{
    *seen = triggers->word_seen = hw_atomic_load_acquire(&own->word);
    uint32_t matched = hw_atomic_load_acquire(&own->matched);
    bool is_new = matched != matched_seen;
    matched_seen = matched;
    if (is_new)
        looks = 0;
    return take_question() || is_new;
}

static bool sleep_until_news(struct hw_triggers *triggers, uint32_t seen, uint64_t time_ns)
{
    uint32_t before = matched_seen;
    hw_futex_wait_shared(&own->word, seen, time_ns);
    if (!take_news(triggers, &seen))
        return false;
    if (matched_seen != before) {
        is_woken = true;
        HW_COUNT(helper_wakes);
    }
    return true;
}

/* Between two steps of a handshake. */
static enum hw_event wait_for_answer(struct hw_triggers *triggers, uint32_t seen)
{
    sleep_until_news(triggers, seen, HANDSHAKE_NS << looks);
    return ++looks < HANDSHAKE_LOOKS ? HW_EVENT_MESSAGE : HW_EVENT_BULK;
}

static enum hw_event wait_for_others(struct hw_triggers *triggers, uint32_t seen)
{
    if (!sleep_until_news(triggers, seen, ANSWER_NS << looks_made++))
        looks_for_others--;
    return HW_EVENT_MESSAGE;
}

/* A message that matched is moving: where the processor moves the data nothing else tells of them, so the
 * agent looks soon for the rest of the handshake, and then after each of its naps. */
static enum hw_event wait_helped(struct hw_triggers *triggers, uint64_t timeout_ns)
{
    uint32_t seen;
    bool is_new = take_news(triggers, &seen);
    if (is_new || timeout_ns == 0)
        return is_new ? HW_EVENT_MESSAGE : HW_EVENT_NONE;
    if (hw_helped_is_moving(own))
        return looks < HANDSHAKE_LOOKS ? wait_for_answer(triggers, seen) : HW_EVENT_BULK;
    if (looks_for_others > 0)
        return wait_for_others(triggers, seen);
    if (hw_atomic_load_relaxed(&unknown) > 0 && timeout_ns > TICK_NS)
        timeout_ns = TICK_NS;
    return sleep_until_news(triggers, seen, timeout_ns) ? HW_EVENT_MESSAGE : HW_EVENT_NONE;
}

static void rest(struct hw_triggers *triggers, uint64_t time_ns)
{
    uint32_t word = hw_atomic_load_acquire(&own->word), matched = hw_atomic_load_acquire(&own->matched);
    if (matched != matched_seen || hw_helped_is_asked(own))
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
