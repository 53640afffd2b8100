/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/window.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "engines/thread/account.h"
#include "engines/thread/classes.h"
#include "engines/thread/gap.h"
#include "policy/rounds.h"
#include "profile/record/counters.h"
#include "progress/inside.h"
#include "real/eager.h"
#include "real/launcher.h"
#include "real/quirks.h"

/* In so many windows of a class the thread looks at the wire: afterwards it is known how long a transfer
 * takes, and whether there is a wire to look at. */
enum { WIRE_WINDOWS = 16 };

static clockid_t thread_clock;
static struct hw_policy_ledger ledger;  /* under the lock */
static bool has_own_core;               /* the thread has a core that the program's thread does not use */
static bool may_hold_back, takes_turns; /* policy/hold.h */

pthread_mutex_t hw_window_lock = PTHREAD_MUTEX_INITIALIZER;
struct hw_window hw_window;
struct hw_window_shown hw_window_shown;
uint32_t hw_window_outstanding;
bool hw_window_is_paused, hw_window_is_listened;

void hw_window_start(pthread_t thread, const cpu_set_t *allowed)
{
    if (pthread_getcpuclockid(thread, &thread_clock) != 0)
        thread_clock = CLOCK_THREAD_CPUTIME_ID;
    has_own_core = hw_real_launcher_has_own_core(allowed);
    may_hold_back = hw_real_answers_hold_up();
    takes_turns = hw_real_directions_alternate();
}

struct hw_policy_class *hw_window_class_of(enum hw_request_kind kind, uint64_t bytes, bool is_receive)
{
    enum hw_beginning by = is_receive ? HW_BEGINNING_RECEIVE : HW_BEGINNING_SEND;
    return hw_classes_find(hw_window_outstanding > 0 ? HW_BEGINNING_UNDER_WAY : by, kind, bytes);
}

void hw_window_begin_probe(uint64_t patience_ns)
{
    hw_window.is_probe = true;
    hw_window.has_begun = false;
    hw_window.probe.patience_ns = patience_ns;
    hw_atomic_store_relaxed(&hw_window_shown.watch_ns, patience_ns);
}

static bool decide(uint64_t now_ns)
{
    enum hw_policy_way way = hw_policy_begin(hw_window.class, &ledger, now_ns);
    if (hw_options.stand_down == HW_OPTION_STAND_DOWN_NEVER || hw_window_is_listened)
        way = HW_POLICY_WAY_ON;
    hw_window.is_probe = false;
    hw_window.has_begun = true;
    hw_window.probe = (struct hw_probe){0};
    if (way == HW_POLICY_WAY_PROBE)
        hw_window_begin_probe(hw_policy_probe_ns(hw_window.class));
    return way != HW_POLICY_WAY_OFF;
}

/* Messages that did not open a window themselves; it is not known which of them are sent. */
static void add_earlier(uint64_t bytes)
{
    uint64_t pending_bytes = hw_atomic_load_relaxed(&hw_request_pending_bytes);
    if (pending_bytes <= bytes)
        return;
    hw_window.bytes = pending_bytes - bytes;
    hw_window.sent_bytes = hw_window.bytes / 2;
    hw_window.received_bytes = hw_window.bytes;
    hw_window.earlier_bytes = hw_window.base > 0 ? hw_window.bytes : 0; /* an earlier window counts them */
    hw_halves_mix(&hw_window.halves);
    hw_window.is_for_others = false;
}

static void clear_window(uint64_t now_ns)
{
    hw_window.is_interfered = hw_window_is_paused || hw_window_is_listened;
    hw_window.opened_ns = now_ns;
    hw_window.blocked_ns = hw_window.elsewhere_ns = hw_window.posting_ns = hw_window.posts_since_ns = 0;
    hw_window.bytes = hw_window.sent_bytes = hw_window.received_bytes = hw_window.earlier_bytes = 0;
    hw_window.halves = (struct hw_halves){0};
    hw_window.movement = (struct hw_movement){0};
    hw_window.is_series_over = false;
    hw_window.has_posts = hw_window.has_completed = false;
    hw_window.round_count = 0;
    hw_window.series_count = 0;
    hw_window.wake_ns = 0;
    hw_window.is_held = false;
    hw_atomic_store_relaxed(&hw_window_shown.is_holding, false);
    hw_window.held = (struct hw_policy_held){0};
}

/* Beside what is outstanding already. */
static void begin_window(struct hw_policy_class *class, uint64_t now_ns)
{
    clear_window(now_ns);
    hw_window.base = hw_window_outstanding;
    hw_window.class = class;
    class->is_continued = hw_window.base > 0;
    hw_window.is_on = decide(now_ns);
    hw_atomic_store_relaxed(&hw_window_shown.is_continued, hw_window.base > 0);
    hw_atomic_store_relaxed(&hw_window_shown.is_first_look, hw_window.is_on);
    bool is_looked_at = class->window_count <= WIRE_WINDOWS || class->window_count % WIRE_WINDOWS == 0;
    hw_atomic_store_relaxed(&hw_window_shown.wants_wire, is_looked_at);
    hw_atomic_store_relaxed(&hw_window_shown.gap_ns, hw_gap_for(class));
    bool waits = class->idle_run == HW_POLICY_IDLE_RUN, is_unknown = class->window_count == 1;
    hw_atomic_store_relaxed(&hw_window_shown.waits_at_once, waits);
    hw_atomic_store_relaxed(&hw_window_shown.expects_wait, hw_window.is_on && (waits || is_unknown));
    hw_window.thread_cpu_ns = hw_window.is_on ? hw_clock_read(thread_clock) : 0;
    HW_COUNT(overlap_windows);
    if (!hw_window.is_on)
        HW_COUNT(overlap_windows_off);
    hw_atomic_store_relaxed(&hw_window_shown.is_on, hw_window.is_on);
    hw_atomic_store_relaxed(&hw_window_shown.is_open, true);
    hw_inside_want(HW_INSIDE_TIMES, true);
}

void hw_window_hold(bool is_held)
{
    hw_window.is_held = is_held;
    hw_atomic_store_relaxed(&hw_window_shown.is_holding, is_held);
    hw_atomic_store_relaxed(&hw_window_shown.is_on, hw_window.is_on && !is_held);
}

/* Before the first post is counted. */
static void hold_back(uint64_t received_bytes)
{
    bool may_be_held = may_hold_back && hw_window.is_on && !hw_window_is_listened;
    if (may_be_held &&
        hw_policy_is_held(&hw_window.class->hold, received_bytes, hw_window.halves.sends_bytes)) {
        hw_window.held.was_held = true;
        hw_window_hold(true);
    }
}

/* Returns true if the thread may come now. */
bool hw_window_let_go(void)
{
    if (!hw_window.is_held || !hw_policy_hold_is_sent(&hw_window.class->hold, hw_window.halves.sends_bytes))
        return false;
    hw_window_hold(false);
    return true;
}

void hw_window_open(enum hw_request_kind kind, uint64_t bytes, bool is_receive, uint64_t now_ns)
{
    begin_window(hw_window_class_of(kind, bytes, is_receive), now_ns);
    hw_atomic_store_relaxed(&hw_window_shown.has_rounds, false);
    hw_window.has_gone = false;
    hw_halves_open(&hw_window.halves);
    hw_window.is_for_others = true;
    add_earlier(bytes);
    if (kind == HW_REQUEST_P2P && hw_window.base == 0)
        hold_back(hw_window.received_bytes + (is_receive ? bytes : 0));
}

void hw_window_end_series(void)
{
    if (!hw_window.is_series_over)
        hw_policy_series_end(hw_window.class, hw_window.series_count);
    hw_window.is_series_over = true;
}

static void learn(struct hw_policy_class *class, const struct hw_policy_window *closed)
{
    if (hw_policy_end(class, &ledger, closed) && class->stands_down) {
        HW_COUNT(stand_downs);
        hw_log_debug("progress brings nothing for operations of this size here; standing down");
    }
    hw_gap_adapt(class, closed);
}

static void learn_of_hold(void)
{
    hw_window.held.received_bytes = hw_window.received_bytes;
    hw_window.held.sends_bytes = hw_window.halves.sends_bytes;
    hw_window.held.transfer_ns = hw_policy_transfer_ns(hw_window.class);
    hw_window.held.is_in_turns = takes_turns;
    hw_window.held.was_in_vain |= hw_window.is_held;
    hw_policy_hold_learn(&hw_window.class->hold, &hw_window.held);
}

/* For the policy. */
static struct hw_policy_window what_it_was(uint64_t now_ns, bool is_cut)
{
    bool is_on_now = hw_window.is_on && !hw_window.is_held;
    struct hw_policy_window closed = {
        .was_on = is_on_now && hw_window.has_begun,
        .was_probe = is_on_now && hw_window.is_probe && hw_window.has_begun,
        .went_by_itself =
            is_on_now && hw_window.is_probe && !hw_window.has_begun && hw_window.movement.looked_ns != 0,
        .is_for_others = hw_window.is_for_others,
        .has_wire = hw_window.movement.has_wire,
        .natural_bytes = hw_window.probe.natural_bytes + hw_window.probe.on_way_bytes,
        .has_unsent = hw_window.probe.has_unsent,
        .wire_bytes = hw_movement_bytes(&hw_window.movement),
        .bytes = hw_window.bytes - hw_window.earlier_bytes,
        .is_cut = is_cut,
        .was_held = hw_window.held.was_held,
        .is_half_late = hw_halves_is_late(&hw_window.halves, hw_window.bytes - hw_window.sent_bytes,
                                          hw_window.sent_bytes),
        .early_free_ns = hw_window.halves.is_late ? hw_window.halves.early_free_ns : 0,
        .is_half_unseen = hw_window.halves.is_unseen,
        .opened_ns = hw_window.opened_ns,
        .blocked_ns = hw_window.blocked_ns,
        .elsewhere_ns = hw_window.elsewhere_ns,
        .posting_ns = hw_window.posting_ns,
        .overhead_ns = hw_window.wake_ns,
        .duration_ns = now_ns - hw_window.opened_ns,
        .moving_ns = hw_movement_ns(&hw_window.movement),
        .has_helped = is_on_now && hw_window.has_begun && hw_window.movement.has_wire &&
                      hw_atomic_load_relaxed(&hw_window_shown.wants_wire),
        .helped_ns = hw_movement_helped_ns(&hw_window.movement, hw_window.probe.natural_bytes),
    };
    if (closed.was_on && !has_own_core)
        closed.overhead_ns += hw_clock_read(thread_clock) - hw_window.thread_cpu_ns;
    return closed;
}

/* Learns from it. */
static void end_window(uint64_t now_ns, bool is_cut)
{
    hw_window_end_series();
    struct hw_policy_window closed = what_it_was(now_ns, is_cut);
    bool is_whole = hw_window.base == 0 ||
                    (hw_window.round_count > 0 && hw_window.round_count == hw_window.class->rounds);
    bool tells = is_whole && !hw_window.is_interfered;
    if (tells)
        learn(hw_window.class, &closed);
    HW_COUNT_ADD(overlapped_ns, hw_policy_free_ns(&closed));
    if (closed.was_on && tells)
        hw_account_window(hw_window.class, &closed, hw_window.wake_ns,
                          hw_atomic_load_relaxed(&hw_window_shown.gap_ns));
    if (hw_options.log_level == HW_LOG_DEBUG)
        hw_account_log(hw_window.class, &closed);
    if (is_whole)
        hw_window.class->bytes = closed.bytes;
    if (hw_window.base == 0 && tells)
        learn_of_hold();
    hw_atomic_store_relaxed(&hw_window_shown.watch_ns, 0);
}

void hw_window_close(uint64_t now_ns, bool is_cut)
{
    end_window(now_ns, is_cut);
    hw_window.class = NULL;
    hw_atomic_store_relaxed(&hw_window_shown.is_open, false);
    hw_atomic_store_relaxed(&hw_window_shown.is_on, false);
    hw_atomic_store_relaxed(&hw_window_shown.is_continued, false);
    hw_inside_want(HW_INSIDE_TIMES, false);
}

void hw_window_continue(uint64_t now_ns)
{
    bool is_for_others = hw_window.is_for_others;
    end_window(now_ns, true);
    begin_window(hw_window.next_class, now_ns);
    add_earlier(0);
    hw_halves_mix(&hw_window.halves);
    hw_window.is_for_others = is_for_others;
    hw_window.has_gone = true;
}
