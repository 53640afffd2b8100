/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/overlap.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "base/options.h"
#include "engines/thread/window.h"
#include "policy/policy.h"
#include "policy/rounds.h"
#include "profile/record/counters.h"
#include "progress/inside.h"

/* A program that always has something outstanding may never close its window: it is cut at the latest then.
 */
#define MAX_WINDOW_NS (100 * HW_NS_PER_MS)
#define MAX_ROUNDS_NS (1000 * HW_NS_PER_MS)

void hw_overlap_start(pthread_t thread, const cpu_set_t *allowed) { hw_window_start(thread, allowed); }

uint64_t hw_overlap_held_ns(bool may_end)
{
    uint64_t left_ns = 0;
    if (!hw_atomic_load_relaxed(&hw_window_shown.is_holding))
        return 0;
    pthread_mutex_lock(&hw_window_lock);
    if (hw_window.class && hw_window.is_held) {
        uint64_t since_ns = hw_clock_now_ns() - hw_window.opened_ns;
        uint64_t most_ns = hw_policy_hold_most_ns(&hw_window.class->hold, hw_window.received_bytes);
        left_ns = most_ns > since_ns ? most_ns - since_ns : !may_end;
        hw_window.held.was_in_vain |= left_ns == 0;
        hw_window_hold(left_ns > 0);
    }
    pthread_mutex_unlock(&hw_window_lock);
    return left_ns;
}

void hw_overlap_posts(void)
{
    pthread_mutex_lock(&hw_window_lock);
    hw_window.posts_since_ns = hw_clock_now_ns();
    pthread_mutex_unlock(&hw_window_lock);
}

static uint64_t since_opened_ns(uint64_t began_ns)
{
    return began_ns > hw_window.opened_ns ? began_ns - hw_window.opened_ns : 0; /* else another thread's */
}

static bool is_pending(void) { return hw_atomic_load_seq_cst(&hw_request_pending) != 0; }

/* With the thread. What is sent early may be what a partner waits for that has received before: data that
 * have moved are its gain. The kernel may hold all of them, and no request is pending then. Within a node
 * nothing queues up. */
static bool are_sends_under_way(uint64_t now_ns)
{
    bool is_little =
        hw_movement_bytes(&hw_window.movement) <= hw_window.sent_bytes / HW_POLICY_LATE_MOVED_PARTS;
    uint64_t since_ns = now_ns - hw_window.movement.looked_ns;
    return hw_window.movement.has_wire && is_little &&
           (is_pending() || since_ns < hw_policy_transfer_ns(hw_window.class) / HW_POLICY_LATE_MOVED_PARTS);
}

static struct hw_halves_moment moment_at(uint64_t since_ns)
{
    uint64_t inside_ns = hw_window.blocked_ns + hw_window.elsewhere_ns + hw_window.posting_ns;
    return (struct hw_halves_moment){.free_ns = since_ns > inside_ns ? since_ns - inside_ns : 0,
                                     .is_under_way = is_pending(),
                                     .is_seen = true};
}

static void note_receive(uint64_t bytes, uint64_t began_ns)
{
    struct hw_halves_moment moment = moment_at(since_opened_ns(began_ns));
    if (hw_window.is_on) {
        moment.is_under_way = are_sends_under_way(began_ns);
        moment.is_seen = hw_overlap_wants_wire();
    }
    hw_halves_receive(&hw_window.halves, bytes, &moment);
}

static void note_send(uint64_t bytes, uint64_t began_ns)
{
    uint64_t since_ns = since_opened_ns(began_ns);
    struct hw_halves_moment moment = moment_at(since_ns);
    bool is_first = hw_halves_send(&hw_window.halves, bytes, &moment);
    hw_policy_hold_note_send(&hw_window.class->hold, &hw_window.held, hw_window.halves.sends_bytes, since_ns);
    if (is_first)
        hw_window.held.came_early = !moment.is_under_way && hw_window.is_on && !hw_window.held.was_held;
}

void hw_overlap_other(uint64_t bytes, bool is_receive)
{
    pthread_mutex_lock(&hw_window_lock);
    if (hw_window.class)
        (is_receive ? note_receive : note_send)(bytes, hw_window.posts_since_ns ? hw_window.posts_since_ns
                                                                                : hw_clock_now_ns());
    pthread_mutex_unlock(&hw_window_lock);
}

void hw_overlap_receives(uint64_t bytes, uint64_t began_ns)
{
    pthread_mutex_lock(&hw_window_lock);
    if (hw_window.class && began_ns >= hw_window.opened_ns)
        note_receive(bytes, began_ns);
    pthread_mutex_unlock(&hw_window_lock);
}

bool hw_overlap_sent(uint64_t bytes, uint64_t began_ns)
{
    pthread_mutex_lock(&hw_window_lock);
    bool is_its = hw_window.class && began_ns >= hw_window.opened_ns;
    if (is_its)
        note_send(bytes, began_ns);
    bool may_come = is_its && hw_window_let_go();
    pthread_mutex_unlock(&hw_window_lock);
    return may_come;
}

/* Returns when it began, as far as that is known. */
static uint64_t end_post(uint64_t now_ns)
{
    uint64_t began_ns = hw_window.posts_since_ns ? hw_window.posts_since_ns : now_ns;
    hw_window.posting_ns += now_ns - began_ns;
    hw_window.posts_since_ns = 0;
    return began_ns;
}

void hw_overlap_unposted(void)
{
    pthread_mutex_lock(&hw_window_lock);
    end_post(hw_clock_now_ns());
    pthread_mutex_unlock(&hw_window_lock);
}

/* Counts the post. Whether the series is complete is known from the windows before. */
static enum hw_policy_post continue_series(uint64_t began_ns, uint64_t now_ns)
{
    if (hw_window.series_count && began_ns - hw_overlap_last_post_ns() > HW_POLICY_SERIES_GAP_NS)
        hw_window_end_series();
    hw_atomic_store_relaxed(&hw_window_shown.last_post_ns, now_ns);
    if (hw_window.is_series_over)
        return HW_POLICY_POST_TELL;
    hw_window.series_count++;
    return hw_policy_series_post(hw_window.class, hw_window.series_count);
}

/* A post after the program has computed and completed something, and while other things are outstanding,
 * begins another hw_window. */
static bool is_next_round(uint64_t now_ns)
{
    uint64_t since_ns = now_ns - hw_window.opened_ns;
    uint64_t inside_ns = hw_window.blocked_ns + hw_window.elsewhere_ns + hw_window.posting_ns;
    if (since_ns > (hw_window.base > 0 ? MAX_ROUNDS_NS : MAX_WINDOW_NS))
        return true;
    return hw_window.has_completed && hw_window_outstanding > hw_window.base &&
           since_ns > HW_POLICY_LEAST_ROUNDS_NS && since_ns > inside_ns + HW_POLICY_MIN_GAIN_NS;
}

enum hw_policy_post hw_overlap_posted(enum hw_request_kind kind, uint64_t bytes, bool is_receive,
                                      bool *is_new)
{
    pthread_mutex_lock(&hw_window_lock);
    uint64_t now_ns = hw_clock_now_ns();
    uint64_t began_ns = end_post(now_ns);
    if (hw_window.class && is_next_round(now_ns))
        hw_window_close(now_ns, true);
    if (!hw_window.class)
        hw_window_open(kind, bytes, is_receive, now_ns);
    if (!hw_window.has_posts)
        hw_window.next_class = hw_window_class_of(kind, bytes, is_receive);
    hw_window.has_posts = true;
    hw_window_outstanding = hw_atomic_load_seq_cst(&hw_request_outstanding);
    hw_window.bytes += bytes;
    *(is_receive ? &hw_window.received_bytes : &hw_window.sent_bytes) += bytes;
    if (kind == HW_REQUEST_COLLECTIVE)
        hw_atomic_store_relaxed(&hw_window_shown.has_rounds, true);
    hw_halves_post(&hw_window.halves, kind, is_receive);
    hw_window.is_for_others &= kind == HW_REQUEST_COLLECTIVE || (kind == HW_REQUEST_P2P && !is_receive);
    enum hw_policy_post result = continue_series(began_ns, now_ns);
    /* Who has posted receives alone often goes on to a blocking send. A poll before it would answer the
     * partner first, and the two directions would go one after the other: let the thread wait a moment and
     * see. */
    if (result == HW_POLICY_POST_COMPLETE && hw_window.halves.has_only_receives)
        result = HW_POLICY_POST_TELL;
    if (!hw_window.is_on)
        result = HW_POLICY_POST_OFF;
    else if (hw_window.is_held && !hw_window_let_go())
        result = hw_window.class->hold.windows > 0 ? HW_POLICY_POST_MORE : HW_POLICY_POST_TELL;
    *is_new = !hw_window.has_gone;
    hw_window.has_gone |= result >= HW_POLICY_POST_TELL;
    pthread_mutex_unlock(&hw_window_lock);
    return result;
}

void hw_overlap_add_wake(uint64_t wake_ns)
{
    pthread_mutex_lock(&hw_window_lock);
    hw_window.wake_ns += wake_ns;
    pthread_mutex_unlock(&hw_window_lock);
}

/* As much was completed in the window as was posted. */
static void end_round(uint64_t now_ns)
{
    hw_window.round_count++;
    hw_window.has_posts = hw_window.has_completed = false;
    uint64_t since_ns = now_ns - hw_window.opened_ns;
    if (hw_policy_rounds_end(hw_window.class, hw_window.round_count, since_ns))
        hw_window_continue(now_ns);
}

void hw_overlap_returned(uint64_t blocked_ns)
{
    pthread_mutex_lock(&hw_window_lock);
    uint32_t outstanding = hw_atomic_load_seq_cst(&hw_request_outstanding);
    hw_window.blocked_ns += blocked_ns;
    hw_window.has_completed |= outstanding < hw_window_outstanding;
    hw_window_outstanding = outstanding;
    if (hw_window.class && outstanding == 0)
        hw_window_close(hw_clock_now_ns(), hw_window.base > 0);
    else if (hw_window.class && hw_window.has_posts && outstanding <= hw_window.base)
        end_round(hw_clock_now_ns());
    pthread_mutex_unlock(&hw_window_lock);
}

void hw_overlap_blocked(uint64_t began_ns)
{
    pthread_mutex_lock(&hw_window_lock);
    uint64_t now_ns = hw_clock_now_ns();
    if (hw_window.class && began_ns >= hw_window.opened_ns)
        hw_window.elsewhere_ns += now_ns - began_ns;
    /* A receive that is always posted must not make every call of the program pay for long. */
    if (!hw_window.class || (now_ns - hw_window.opened_ns > MAX_WINDOW_NS && !hw_window.is_held))
        hw_inside_want(HW_INSIDE_TIMES, false);
    pthread_mutex_unlock(&hw_window_lock);
}

void hw_overlap_interfere(bool wants_pause, bool wants_listening)
{
    pthread_mutex_lock(&hw_window_lock);
    hw_window_is_paused = wants_pause;
    hw_window_is_listened = wants_listening;
    if (hw_window.class && (hw_window_is_paused || hw_window_is_listened))
        hw_window.is_interfered = true;
    if (hw_window.class && hw_window_is_listened) {
        hw_window.is_on = true;
        hw_window_hold(false);
    }
    pthread_mutex_unlock(&hw_window_lock);
}

void hw_overlap_looked(const struct hw_probe_wire *wire, uint64_t now_ns)
{
    pthread_mutex_lock(&hw_window_lock);
    if (hw_window.class)
        hw_movement_note(&hw_window.movement, wire, hw_window.bytes, now_ns);
    pthread_mutex_unlock(&hw_window_lock);
}

static struct hw_probe_window probed_window(void)
{
    return (struct hw_probe_window){
        .bytes = hw_window.bytes, .sent_bytes = hw_window.sent_bytes, .has_rounds = hw_overlap_has_rounds()};
}

void hw_overlap_looked_first(const struct hw_probe_wire *wire, uint64_t now_ns)
{
    pthread_mutex_lock(&hw_window_lock);
    if (hw_window.class && hw_window.is_on) {
        hw_movement_note(&hw_window.movement, wire, hw_window.bytes, now_ns);
        struct hw_probe_window probed = probed_window();
        hw_probe_look_first(&hw_window.probe, wire, &probed, now_ns);
        bool may_probe = hw_options.stand_down != HW_OPTION_STAND_DOWN_NEVER && !hw_window_is_listened;
        bool seems_to_go = wire->has_wire && hw_probe_seems_to_go(wire, &probed);
        uint64_t patience_ns = may_probe && seems_to_go ? hw_policy_watch_ns(hw_window.class) : 0;
        if (patience_ns > 0)
            hw_window_begin_probe(patience_ns);
    }
    pthread_mutex_unlock(&hw_window_lock);
}

bool hw_overlap_is_first_look(void)
{
    return hw_atomic_load_relaxed(&hw_window_shown.is_first_look) &&
           hw_atomic_exchange_seq_cst(&hw_window_shown.is_first_look, false);
}

bool hw_overlap_wants_wire(void) { return hw_atomic_load_relaxed(&hw_window_shown.wants_wire); }
uint64_t hw_overlap_watch_ns(void) { return hw_atomic_load_relaxed(&hw_window_shown.watch_ns); }

bool hw_overlap_goes_by_itself(const struct hw_probe_wire *wire, uint64_t now_ns)
{
    pthread_mutex_lock(&hw_window_lock);
    struct hw_probe *probe = &hw_window.probe;
    struct hw_probe_window probed = probed_window();
    /* A window that has opened since is looked at first. */
    bool is_watching = hw_window.class && hw_window.is_probe && !hw_window.has_begun && probe->looked_ns != 0;
    bool result = is_watching && hw_probe_goes_on(probe, wire, &probed, now_ns);
    if (is_watching)
        hw_atomic_store_relaxed(&hw_window_shown.watch_ns,
                                result ? hw_probe_next_ns(probe, wire, &probed, now_ns) : 0);
    if (is_watching && !result) {
        hw_window.has_begun = true;
        hw_probe_end(probe, wire);
        hw_atomic_store_relaxed(&hw_window_shown.wants_wire,
                                true); /* what the thread is needed for moves now */
    }
    pthread_mutex_unlock(&hw_window_lock);
    return result;
}

uint64_t hw_overlap_gap_ns(void) { return hw_atomic_load_relaxed(&hw_window_shown.gap_ns); }
bool hw_overlap_has_rounds(void) { return hw_atomic_load_relaxed(&hw_window_shown.has_rounds); }
uint64_t hw_overlap_last_post_ns(void) { return hw_atomic_load_relaxed(&hw_window_shown.last_post_ns); }
bool hw_overlap_expects_wait(void) { return hw_atomic_load_relaxed(&hw_window_shown.expects_wait); }
bool hw_overlap_waits_at_once(void) { return hw_atomic_load_relaxed(&hw_window_shown.waits_at_once); }
bool hw_overlap_is_continued(void) { return hw_atomic_load_relaxed(&hw_window_shown.is_continued); }
bool hw_overlap_is_open(void) { return hw_atomic_load_relaxed(&hw_window_shown.is_open); }
bool hw_overlap_is_on(void) { return hw_atomic_load_relaxed(&hw_window_shown.is_on); }
