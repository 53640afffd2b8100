/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/awaited.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "policy/awaited.h"
#include "progress/inside.h"
#include "progress/wire.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>

/* Between two looks at the sockets: their cost, so many times. Listing them costs a hundred looks, and what a
 * window needs is mostly connected by its first operation: listings are close together at first, then rare.
 */
enum { LOOK_PARTS = 200, FIRST_LISTING_PARTS = 20, LAST_LISTING_PARTS = 1280 };
#define MIN_LOOK_NS (200 * HW_NS_PER_US)

/* Fewer bytes than this part of what was read acknowledge it; more answer it. */
enum { BULK_PER_ANSWER = 256, TURNS_PER_LISTING = 16, MOST_CONNECTIONS = 32 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hw_policy_awaited policy; /* this and what follows under lock */
static struct hw_wire wire;
static bool is_exposed;
static uint64_t clock_read_ns, next_look_ns, next_listing_ns;
static uint32_t listing_parts = FIRST_LISTING_PARTS;

static atomic_bool is_awaited; /* seq_cst with the thread's sleep (turns.c) */
static atomic_bool is_judged;
static atomic_uint_fast64_t answered_ns; /* when a turn sent an answer and the program was away; or 0 */
static atomic_uint returns;              /* of the program to MPI, while the thread's turns are judged */
static _Atomic int program_core;         /* at the last of them */
static unsigned returns_judged;          /* then; under lock */
static _Atomic uint32_t stride = 1, pass_count;

static void want_passes(void)
{
    bool is_judged_now = hw_policy_awaited_is_judged(&policy);
    hw_atomic_store_relaxed(&is_judged, is_judged_now);
    hw_inside_want(HW_INSIDE_PASSES, is_exposed && (!policy.is_awaited || is_judged_now));
}

/* One that two threads count once is no matter. */
static void note_return(void)
{
    hw_atomic_store_relaxed(&returns, hw_atomic_load_relaxed(&returns) + 1);
    hw_atomic_store_relaxed(&program_core, sched_getcpu());
}

/* Since the turns' cost is enough for a verdict, which follows. Under lock. */
static bool has_returned(void)
{
    unsigned returns_now = hw_atomic_load_relaxed(&returns);
    bool has_changed = returns_now != returns_judged;
    if (has_changed || policy.cost_ns < HW_POLICY_AWAITED_VERDICT_NS)
        returns_judged = returns_now;
    return has_changed;
}

/* Of an answer that was sent while the program was away. next_ns: it is away still, since then; else 0. Under
 * lock. */
static void take_gain(uint64_t now_ns, uint64_t next_ns)
{
    uint64_t since_ns = hw_atomic_load_relaxed(&answered_ns);
    if (since_ns == 0)
        return;
    hw_policy_awaited_gain(&policy, now_ns - since_ns);
    hw_atomic_store_relaxed(&answered_ns, next_ns);
}

/* What was before a term, or of windows that are gone, is no matter. Under lock. */
static void forget_answers(void)
{
    hw_atomic_store_relaxed(&answered_ns, 0);
    note_return();
    returns_judged = hw_atomic_load_relaxed(&returns);
}

void hw_awaited_expose(bool now_exposed)
{
    if (hw_options.stand_down == HW_OPTION_STAND_DOWN_NEVER) {
        hw_atomic_store_seq_cst(&is_awaited, true);
        return;
    }
    pthread_mutex_lock(&lock);
    if (now_exposed && policy.since_ns == 0)
        hw_policy_awaited_begin(&policy, hw_clock_now_ns());
    if (is_exposed != now_exposed) {
        is_exposed = now_exposed;
        take_gain(hw_clock_now_ns(), 0);
        forget_answers();
        want_passes();
    }
    pthread_mutex_unlock(&lock);
}

/* Connections are often made late, so they are listed anew now and then. Returns the time after it. */
static uint64_t list_connections(uint64_t now_ns)
{
    struct hw_profile_wire sums;
    hw_wire_look(&wire, &sums, true);
    uint64_t end_ns = hw_clock_now_ns();
    next_listing_ns = end_ns + (end_ns - now_ns) * listing_parts;
    if (listing_parts < LAST_LISTING_PARTS)
        listing_parts *= 2;
    return end_ns;
}

static bool look(uint64_t gap_ns, uint64_t now_ns)
{
    uint64_t begin_ns = now_ns >= next_listing_ns ? list_connections(now_ns) : now_ns;
    bool is_found = hw_policy_awaited_seen(&policy, hw_wire_unread(&wire) > 0, gap_ns, now_ns);
    uint64_t end_ns = hw_clock_now_ns(), pause_ns = (end_ns - begin_ns) * LOOK_PARTS;
    next_look_ns = end_ns + (pause_ns < MIN_LOOK_NS ? MIN_LOOK_NS : pause_ns);
    if (is_found)
        hw_log_debug("others waited for this process while it computed: the thread serves its windows");
    return is_found;
}

/* While the thread serves there is nothing to find. */
static void note_gain(void)
{
    note_return();
    if (hw_atomic_load_relaxed(&answered_ns) == 0 || pthread_mutex_trylock(&lock) != 0)
        return;
    take_gain(hw_clock_now_ns(), 0);
    pthread_mutex_unlock(&lock);
}

bool hw_awaited_pass(void)
{
    if (hw_atomic_load_relaxed(&is_judged)) {
        note_gain();
        return false;
    }
    uint32_t count =
        hw_atomic_load_relaxed(&pass_count) + 1; /* one that two threads count once is no matter */
    hw_atomic_store_relaxed(&pass_count, count);
    if (count < hw_atomic_load_relaxed(&stride))
        return false;
    if (pthread_mutex_trylock(&lock) != 0)
        return false;
    hw_atomic_store_relaxed(&pass_count, 0);
    uint64_t now_ns = hw_clock_now_ns(), gap_ns = now_ns - clock_read_ns;
    clock_read_ns = now_ns;
    hw_atomic_store_relaxed(&stride, hw_policy_awaited_stride(gap_ns, count));
    bool is_found = is_exposed && now_ns >= next_look_ns && look(gap_ns / count, now_ns);
    if (is_found) {
        forget_answers();
        hw_atomic_store_seq_cst(&is_awaited, true);
        want_passes();
    }
    pthread_mutex_unlock(&lock);
    return is_found;
}

bool hw_awaited_is(void) { return hw_atomic_load_seq_cst(&is_awaited); }

void hw_awaited_check(void)
{
    if (!hw_awaited_is() || hw_options.stand_down == HW_OPTION_STAND_DOWN_NEVER)
        return;
    pthread_mutex_lock(&lock);
    uint64_t now_ns = hw_clock_now_ns();
    bool was_settled = policy.is_settled;
    take_gain(now_ns, hw_inside_any() ? 0 : now_ns);
    if (hw_policy_awaited_is_over(&policy, has_returned(), now_ns)) {
        if (now_ns < policy.until_ns) {
            hw_log_debug("the thread served windows in vain: nobody waited for an answer");
            next_look_ns = policy.until_ns;
        }
        hw_atomic_store_seq_cst(&is_awaited, false);
        want_passes();
    } else if (policy.is_settled != was_settled) {
        want_passes();
    }
    pthread_mutex_unlock(&lock);
}

/* ---- turns of the thread --------------------------------------------------------------------------------
 */

static struct hw_wire turn_wire; /* this and what follows: progress thread only */
static struct hw_wire_handled turn_began;
static uint64_t turn_began_ns;
static bool is_turn_judged;
static unsigned turn_count, returns_seen;
static uint64_t read_bytes;   /* since the program was away, or the last answer */
static bool has_acknowledged; /* then, and all that had come was read */

/* After the bulk of a transfer a few bytes may be no more than its acknowledgement, and its sender computes
 * as well. If it waited for them, more comes soon. */
static bool is_answer(const struct hw_wire_handled *ended)
{
    unsigned returns_now = hw_atomic_load_relaxed(&returns);
    uint64_t written_bytes = ended->written_bytes - turn_began.written_bytes;
    if (returns_now != returns_seen) {
        returns_seen = returns_now;
        read_bytes = 0;
        has_acknowledged = false;
    }
    bool is_reaction = has_acknowledged;
    read_bytes += ended->read_bytes - turn_began.read_bytes;
    if (written_bytes == 0)
        return is_reaction;
    bool is_small = written_bytes < read_bytes / BULK_PER_ANSWER;
    has_acknowledged = is_small && ended->unread_bytes == 0;
    read_bytes = 0;
    return is_reaction || !is_small;
}

static void settle(void)
{
    pthread_mutex_lock(&lock);
    hw_policy_awaited_settle(&policy);
    want_passes();
    pthread_mutex_unlock(&lock);
}

/* With many connections looks cost much, and the kernel may not tell. */
static bool can_judge(void)
{
    struct hw_profile_wire sums;
    if (turn_count++ % TURNS_PER_LISTING == 0)
        hw_wire_look(&turn_wire, &sums, true);
    if (turn_wire.count > MOST_CONNECTIONS || turn_wire.is_too_many)
        return false;
    return hw_wire_handled(&turn_wire, &turn_began) || turn_wire.count == 0;
}

void hw_awaited_turns(bool is_asked_for)
{
    is_turn_judged = false;
    if (is_asked_for || !hw_atomic_load_relaxed(&is_judged) || hw_inside_any())
        return; /* what the program sends is no answer */
    if (!can_judge()) {
        settle();
        return;
    }
    is_turn_judged = turn_began.unread_bytes > 0;
    turn_began_ns = hw_clock_now_ns();
}

void hw_awaited_turned(void)
{
    struct hw_wire_handled ended;
    if (!is_turn_judged || !hw_wire_handled(&turn_wire, &ended) ||
        ended.written_bytes < turn_began.written_bytes || ended.read_bytes < turn_began.read_bytes)
        return;
    uint64_t now_ns = hw_clock_now_ns();
    bool is_beside =
        sched_getcpu() != hw_atomic_load_relaxed(&program_core); /* which costs the program nothing */
    if (is_answer(&ended) && hw_atomic_load_relaxed(&answered_ns) == 0)
        hw_atomic_store_relaxed(&answered_ns, now_ns);
    pthread_mutex_lock(&lock);
    hw_policy_awaited_turn(&policy, is_beside ? 0 : now_ns - turn_began_ns);
    pthread_mutex_unlock(&lock);
}
