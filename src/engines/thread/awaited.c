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
#include <stdint.h>

/* Between two looks at the sockets: their cost, so many times. Listing them costs a hundred looks, and what a
 * window needs is mostly connected by its first operation: listings are close together at first, then rare.
 */
enum { LOOK_PARTS = 200, FIRST_LISTING_PARTS = 20, LAST_LISTING_PARTS = 1280 };
#define MIN_LOOK_NS (200 * HW_NS_PER_US)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hw_policy_awaited policy; /* this and what follows under lock */
static struct hw_wire wire;
static bool is_exposed;
static uint64_t clock_read_ns, next_look_ns, next_listing_ns;
static uint32_t listing_parts = FIRST_LISTING_PARTS;

static atomic_bool is_awaited; /* seq_cst with the thread's sleep (thread.c) */
static _Atomic uint32_t stride = 1, pass_count;

static void want_passes(void) { hw_inside_want(HW_INSIDE_PASSES, is_exposed && !policy.is_awaited); }

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

bool hw_awaited_pass(void)
{
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
    if (hw_policy_awaited_is_over(&policy, hw_clock_now_ns())) {
        hw_atomic_store_seq_cst(&is_awaited, false);
        want_passes();
    }
    pthread_mutex_unlock(&lock);
}
