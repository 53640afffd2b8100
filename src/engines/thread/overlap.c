/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/overlap.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "engines/thread/account.h"
#include "engines/thread/classes.h"
#include "engines/thread/gap.h"
#include "engines/thread/halves.h"
#include "engines/thread/movement.h"
#include "policy/policy.h"
#include "policy/rounds.h"
#include "profile/record/counters.h"
#include "progress/inside.h"
#include "real/eager.h"
#include "real/launcher.h"
#include "real/quirks.h"

/* In so many windows of a class the thread looks at the wire: afterwards it is known how long a transfer
 * takes, and whether there is a wire to look at. */
enum { WIRE_WINDOWS = 16 };

/* A program that always has something outstanding may never close its window: it is cut at the latest then.
 */
#define MAX_WINDOW_NS (100 * HW_NS_PER_MS)
#define MAX_ROUNDS_NS (1000 * HW_NS_PER_MS)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static clockid_t thread_clock;
static struct hw_policy_ledger ledger;  /* under lock */
static bool has_own_core;               /* the thread has a core that the program's thread does not use */
static bool may_hold_back, takes_turns; /* policy/hold.h */
static atomic_bool is_open, is_on, is_continued;
static atomic_uint_fast64_t gap_ns;
static atomic_bool has_rounds, waits_at_once, expects_wait, is_holding;
static atomic_bool wants_wire, is_first_look;
static atomic_uint_fast64_t last_post_ns;
static atomic_uint_fast64_t watch_ns; /* of a probe that has not begun */
static bool is_paused, is_listened;   /* under lock */

/* The open window; NULL class while there is none. Under lock. */
static struct {
    struct hw_policy_class *class, *next_class; /* of the window after it, if that goes on */
    bool is_on;
    uint64_t opened_ns, bytes;
    uint64_t thread_cpu_ns; /* of the progress thread, when it opened */
    uint64_t blocked_ns, wake_ns;
    uint64_t elsewhere_ns;    /* in blocking calls that are no doors */
    uint64_t posts_since_ns;  /* the post under way; 0: none that is timed */
    uint64_t posting_ns;      /* in posts, but for the first one */
    bool has_gone;            /* somebody was told to start the thread on it */
    bool is_probe, has_begun; /* the thread comes later; it has come */
    struct hw_probe probe;
    uint64_t sent_bytes;     /* of bytes, those that this process sends */
    uint64_t received_bytes; /* those that it receives, and all that were posted before */
    struct hw_halves halves;
    struct hw_movement movement;
    bool is_series_over; /* the first series of posts */
    bool is_interfered;  /* the policy learns nothing from it */
    bool is_for_others;
    bool is_held; /* the thread does not come before the sends are posted */
    struct hw_policy_held held;
    uint32_t series_count;
    uint32_t base;          /* what was outstanding before it */
    uint32_t round_count;   /* so often as much was completed as was posted */
    bool has_posts;         /* something was posted in it */
    bool has_completed;     /* something outstanding was completed, and other things were not */
    uint64_t earlier_bytes; /* of bytes, those that were pending before it */
} window;

/* As of the last post or door. Under lock. */
static uint32_t last_outstanding;

void hw_overlap_start(pthread_t thread, const cpu_set_t *allowed)
{
    if (pthread_getcpuclockid(thread, &thread_clock) != 0)
        thread_clock = CLOCK_THREAD_CPUTIME_ID;
    has_own_core = hw_real_launcher_has_own_core(allowed);
    may_hold_back = hw_real_answers_hold_up();
    takes_turns = hw_real_directions_alternate();
}

static struct hw_policy_class *class_of(enum hw_request_kind kind, uint64_t bytes, bool is_receive)
{
    enum hw_beginning by = is_receive ? HW_BEGINNING_RECEIVE : HW_BEGINNING_SEND;
    return hw_classes_find(last_outstanding > 0 ? HW_BEGINNING_UNDER_WAY : by, kind, bytes);
}

static void begin_probe(uint64_t patience_ns)
{
    window.is_probe = true;
    window.has_begun = false;
    window.probe.patience_ns = patience_ns;
    hw_atomic_store_relaxed(&watch_ns, patience_ns);
}

static bool decide(uint64_t now_ns)
{
    enum hw_policy_way way = hw_policy_begin(window.class, &ledger, now_ns);
    if (hw_options.stand_down == HW_OPTION_STAND_DOWN_NEVER || is_listened)
        way = HW_POLICY_WAY_ON;
    window.is_probe = false;
    window.has_begun = true;
    window.probe = (struct hw_probe){0};
    if (way == HW_POLICY_WAY_PROBE)
        begin_probe(hw_policy_probe_ns(window.class));
    return way != HW_POLICY_WAY_OFF;
}

/* Messages that did not open a window themselves; it is not known which of them are sent. */
static void add_earlier(uint64_t bytes)
{
    uint64_t pending_bytes = hw_atomic_load_relaxed(&hw_request_pending_bytes);
    if (pending_bytes <= bytes)
        return;
    window.bytes = pending_bytes - bytes;
    window.sent_bytes = window.bytes / 2;
    window.received_bytes = window.bytes;
    window.earlier_bytes = window.base > 0 ? window.bytes : 0; /* an earlier window counts them */
    hw_halves_mix(&window.halves);
    window.is_for_others = false;
}

static void clear_window(uint64_t now_ns)
{
    window.is_interfered = is_paused || is_listened;
    window.opened_ns = now_ns;
    window.blocked_ns = window.elsewhere_ns = window.posting_ns = window.posts_since_ns = 0;
    window.bytes = window.sent_bytes = window.received_bytes = window.earlier_bytes = 0;
    window.halves = (struct hw_halves){0};
    window.movement = (struct hw_movement){0};
    window.is_series_over = false;
    window.has_posts = window.has_completed = false;
    window.round_count = 0;
    window.series_count = 0;
    window.wake_ns = 0;
    window.is_held = false;
    hw_atomic_store_relaxed(&is_holding, false);
    window.held = (struct hw_policy_held){0};
}

/* Beside what is outstanding already. */
static void begin_window(struct hw_policy_class *class, uint64_t now_ns)
{
    clear_window(now_ns);
    window.base = last_outstanding;
    window.class = class;
    class->is_continued = window.base > 0;
    window.is_on = decide(now_ns);
    hw_atomic_store_relaxed(&is_continued, window.base > 0);
    hw_atomic_store_relaxed(&is_first_look, window.is_on);
    bool is_looked_at = class->window_count <= WIRE_WINDOWS || class->window_count % WIRE_WINDOWS == 0;
    hw_atomic_store_relaxed(&wants_wire, is_looked_at);
    hw_atomic_store_relaxed(&gap_ns, hw_gap_for(class));
    bool waits = class->idle_run == HW_POLICY_IDLE_RUN, is_unknown = class->window_count == 1;
    hw_atomic_store_relaxed(&waits_at_once, waits);
    hw_atomic_store_relaxed(&expects_wait, window.is_on && (waits || is_unknown));
    window.thread_cpu_ns = window.is_on ? hw_clock_read(thread_clock) : 0;
    HW_COUNT(overlap_windows);
    if (!window.is_on)
        HW_COUNT(overlap_windows_off);
    hw_atomic_store_relaxed(&is_on, window.is_on);
    hw_atomic_store_relaxed(&is_open, true);
    hw_inside_want(HW_INSIDE_TIMES, true);
}

static void set_held(bool is_held)
{
    window.is_held = is_held;
    hw_atomic_store_relaxed(&is_holding, is_held);
    hw_atomic_store_relaxed(&is_on, window.is_on && !is_held);
}

/* Before the first post is counted. */
static void hold_back(uint64_t received_bytes)
{
    bool may_be_held = may_hold_back && window.is_on && !is_listened;
    if (may_be_held && hw_policy_is_held(&window.class->hold, received_bytes, window.halves.sends_bytes)) {
        window.held.was_held = true;
        set_held(true);
    }
}

/* Returns true if the thread may come now. */
static bool let_go(void)
{
    if (!window.is_held || !hw_policy_hold_is_sent(&window.class->hold, window.halves.sends_bytes))
        return false;
    set_held(false);
    return true;
}

uint64_t hw_overlap_held_ns(bool may_end)
{
    uint64_t left_ns = 0;
    if (!hw_atomic_load_relaxed(&is_holding))
        return 0;
    pthread_mutex_lock(&lock);
    if (window.class && window.is_held) {
        uint64_t since_ns = hw_clock_now_ns() - window.opened_ns;
        uint64_t most_ns = hw_policy_hold_most_ns(&window.class->hold, window.received_bytes);
        left_ns = most_ns > since_ns ? most_ns - since_ns : !may_end;
        window.held.was_in_vain |= left_ns == 0;
        set_held(left_ns > 0);
    }
    pthread_mutex_unlock(&lock);
    return left_ns;
}

static void open_window(enum hw_request_kind kind, uint64_t bytes, bool is_receive, uint64_t now_ns)
{
    begin_window(class_of(kind, bytes, is_receive), now_ns);
    hw_atomic_store_relaxed(&has_rounds, false);
    window.has_gone = false;
    hw_halves_open(&window.halves);
    window.is_for_others = true;
    add_earlier(bytes);
    if (kind == HW_REQUEST_P2P && window.base == 0)
        hold_back(window.received_bytes + (is_receive ? bytes : 0));
}

static void end_series(void)
{
    if (!window.is_series_over)
        hw_policy_series_end(window.class, window.series_count);
    window.is_series_over = true;
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
    window.held.received_bytes = window.received_bytes;
    window.held.sends_bytes = window.halves.sends_bytes;
    window.held.transfer_ns = hw_policy_transfer_ns(window.class);
    window.held.is_in_turns = takes_turns;
    window.held.was_in_vain |= window.is_held;
    hw_policy_hold_learn(&window.class->hold, &window.held);
}

/* Learns from it. */
static void end_window(uint64_t now_ns, bool is_cut)
{
    end_series();
    bool is_on_now = window.is_on && !window.is_held;
    struct hw_policy_window closed = {
        .was_on = is_on_now && window.has_begun,
        .was_probe = is_on_now && window.is_probe && window.has_begun,
        .went_by_itself = is_on_now && window.is_probe && !window.has_begun && window.movement.looked_ns != 0,
        .is_for_others = window.is_for_others,
        .has_wire = window.movement.has_wire,
        .natural_bytes = window.probe.natural_bytes + window.probe.on_way_bytes,
        .has_unsent = window.probe.has_unsent,
        .wire_bytes = hw_movement_bytes(&window.movement),
        .bytes = window.bytes - window.earlier_bytes,
        .is_cut = is_cut,
        .was_held = window.held.was_held,
        .is_half_late =
            hw_halves_is_late(&window.halves, window.bytes - window.sent_bytes, window.sent_bytes),
        .early_free_ns = window.halves.is_late ? window.halves.early_free_ns : 0,
        .is_half_unseen = window.halves.is_unseen,
        .opened_ns = window.opened_ns,
        .blocked_ns = window.blocked_ns,
        .elsewhere_ns = window.elsewhere_ns,
        .posting_ns = window.posting_ns,
        .overhead_ns = window.wake_ns,
        .duration_ns = now_ns - window.opened_ns,
        .moving_ns = hw_movement_ns(&window.movement),
        .has_helped = is_on_now && window.has_begun && window.movement.has_wire && hw_overlap_wants_wire(),
        .helped_ns = hw_movement_helped_ns(&window.movement, window.probe.natural_bytes),
    };
    if (closed.was_on && !has_own_core)
        closed.overhead_ns += hw_clock_read(thread_clock) - window.thread_cpu_ns;
    bool is_whole =
        window.base == 0 || (window.round_count > 0 && window.round_count == window.class->rounds);
    bool tells = is_whole && !window.is_interfered;
    if (tells)
        learn(window.class, &closed);
    HW_COUNT_ADD(overlapped_ns, hw_policy_free_ns(&closed));
    if (closed.was_on && tells)
        hw_account_window(window.class, &closed, window.wake_ns, hw_overlap_gap_ns());
    if (hw_options.log_level == HW_LOG_DEBUG)
        hw_account_log(window.class, &closed);
    if (is_whole)
        window.class->bytes = closed.bytes;
    if (window.base == 0 && tells)
        learn_of_hold();
    hw_atomic_store_relaxed(&watch_ns, 0);
}

static void close_window(uint64_t now_ns, bool is_cut)
{
    end_window(now_ns, is_cut);
    window.class = NULL;
    hw_atomic_store_relaxed(&is_open, false);
    hw_atomic_store_relaxed(&is_on, false);
    hw_atomic_store_relaxed(&is_continued, false);
    hw_inside_want(HW_INSIDE_TIMES, false);
}

/* The program goes on with what is under way in the place of what it has completed. */
static void continue_window(uint64_t now_ns)
{
    bool is_for_others = window.is_for_others;
    end_window(now_ns, true);
    begin_window(window.next_class, now_ns);
    add_earlier(0);
    hw_halves_mix(&window.halves);
    window.is_for_others = is_for_others;
    window.has_gone = true;
}

void hw_overlap_posts(void)
{
    pthread_mutex_lock(&lock);
    window.posts_since_ns = hw_clock_now_ns();
    pthread_mutex_unlock(&lock);
}

static uint64_t since_opened_ns(uint64_t began_ns)
{
    return began_ns > window.opened_ns ? began_ns - window.opened_ns : 0; /* else another thread's */
}

static bool is_pending(void) { return hw_atomic_load_seq_cst(&hw_request_pending) != 0; }

/* With the thread. What is sent early may be what a partner waits for that has received before: data that
 * have moved are its gain. The kernel may hold all of them, and no request is pending then. Within a node
 * nothing queues up. */
static bool are_sends_under_way(uint64_t now_ns)
{
    bool is_little = hw_movement_bytes(&window.movement) <= window.sent_bytes / HW_POLICY_LATE_MOVED_PARTS;
    uint64_t since_ns = now_ns - window.movement.looked_ns;
    return window.movement.has_wire && is_little &&
           (is_pending() || since_ns < hw_policy_transfer_ns(window.class) / HW_POLICY_LATE_MOVED_PARTS);
}

static struct hw_halves_moment moment_at(uint64_t since_ns)
{
    uint64_t inside_ns = window.blocked_ns + window.elsewhere_ns + window.posting_ns;
    return (struct hw_halves_moment){.free_ns = since_ns > inside_ns ? since_ns - inside_ns : 0,
                                     .is_under_way = is_pending(),
                                     .is_seen = true};
}

static void note_receive(uint64_t bytes, uint64_t began_ns)
{
    struct hw_halves_moment moment = moment_at(since_opened_ns(began_ns));
    if (window.is_on) {
        moment.is_under_way = are_sends_under_way(began_ns);
        moment.is_seen = hw_overlap_wants_wire();
    }
    hw_halves_receive(&window.halves, bytes, &moment);
}

static void note_send(uint64_t bytes, uint64_t began_ns)
{
    uint64_t since_ns = since_opened_ns(began_ns);
    struct hw_halves_moment moment = moment_at(since_ns);
    bool is_first = hw_halves_send(&window.halves, bytes, &moment);
    hw_policy_hold_note_send(&window.class->hold, &window.held, window.halves.sends_bytes, since_ns);
    if (is_first)
        window.held.came_early = !moment.is_under_way && window.is_on && !window.held.was_held;
}

void hw_overlap_other(uint64_t bytes, bool is_receive)
{
    pthread_mutex_lock(&lock);
    if (window.class)
        (is_receive ? note_receive : note_send)(bytes, window.posts_since_ns ? window.posts_since_ns
                                                                             : hw_clock_now_ns());
    pthread_mutex_unlock(&lock);
}

void hw_overlap_receives(uint64_t bytes, uint64_t began_ns)
{
    pthread_mutex_lock(&lock);
    if (window.class && began_ns >= window.opened_ns)
        note_receive(bytes, began_ns);
    pthread_mutex_unlock(&lock);
}

bool hw_overlap_sent(uint64_t bytes, uint64_t began_ns)
{
    pthread_mutex_lock(&lock);
    bool is_its = window.class && began_ns >= window.opened_ns;
    if (is_its)
        note_send(bytes, began_ns);
    bool may_come = is_its && let_go();
    pthread_mutex_unlock(&lock);
    return may_come;
}

/* Returns when it began, as far as that is known. */
static uint64_t end_post(uint64_t now_ns)
{
    uint64_t began_ns = window.posts_since_ns ? window.posts_since_ns : now_ns;
    window.posting_ns += now_ns - began_ns;
    window.posts_since_ns = 0;
    return began_ns;
}

void hw_overlap_unposted(void)
{
    pthread_mutex_lock(&lock);
    end_post(hw_clock_now_ns());
    pthread_mutex_unlock(&lock);
}

/* Counts the post. Whether the series is complete is known from the windows before. */
static enum hw_policy_post continue_series(uint64_t began_ns, uint64_t now_ns)
{
    if (window.series_count && began_ns - hw_overlap_last_post_ns() > HW_POLICY_SERIES_GAP_NS)
        end_series();
    hw_atomic_store_relaxed(&last_post_ns, now_ns);
    if (window.is_series_over)
        return HW_POLICY_POST_TELL;
    window.series_count++;
    return hw_policy_series_post(window.class, window.series_count);
}

/* A post after the program has computed and completed something, and while other things are outstanding,
 * begins another window. */
static bool is_next_round(uint64_t now_ns)
{
    uint64_t since_ns = now_ns - window.opened_ns;
    uint64_t inside_ns = window.blocked_ns + window.elsewhere_ns + window.posting_ns;
    if (since_ns > (window.base > 0 ? MAX_ROUNDS_NS : MAX_WINDOW_NS))
        return true;
    return window.has_completed && last_outstanding > window.base && since_ns > HW_POLICY_LEAST_ROUNDS_NS &&
           since_ns > inside_ns + HW_POLICY_MIN_GAIN_NS;
}

enum hw_policy_post hw_overlap_posted(enum hw_request_kind kind, uint64_t bytes, bool is_receive,
                                      bool *is_new)
{
    pthread_mutex_lock(&lock);
    uint64_t now_ns = hw_clock_now_ns();
    uint64_t began_ns = end_post(now_ns);
    if (window.class && is_next_round(now_ns))
        close_window(now_ns, true);
    if (!window.class)
        open_window(kind, bytes, is_receive, now_ns);
    if (!window.has_posts)
        window.next_class = class_of(kind, bytes, is_receive);
    window.has_posts = true;
    last_outstanding = hw_atomic_load_seq_cst(&hw_request_outstanding);
    window.bytes += bytes;
    *(is_receive ? &window.received_bytes : &window.sent_bytes) += bytes;
    if (kind == HW_REQUEST_COLLECTIVE)
        hw_atomic_store_relaxed(&has_rounds, true);
    hw_halves_post(&window.halves, kind, is_receive);
    window.is_for_others &= kind == HW_REQUEST_COLLECTIVE || (kind == HW_REQUEST_P2P && !is_receive);
    enum hw_policy_post result = continue_series(began_ns, now_ns);
    /* Who has posted receives alone often goes on to a blocking send. A poll before it would answer the
     * partner first, and the two directions would go one after the other: let the thread wait a moment and
     * see. */
    if (result == HW_POLICY_POST_COMPLETE && window.halves.has_only_receives)
        result = HW_POLICY_POST_TELL;
    if (!window.is_on)
        result = HW_POLICY_POST_OFF;
    else if (window.is_held && !let_go())
        result = window.class->hold.windows > 0 ? HW_POLICY_POST_MORE : HW_POLICY_POST_TELL;
    *is_new = !window.has_gone;
    window.has_gone |= result >= HW_POLICY_POST_TELL;
    pthread_mutex_unlock(&lock);
    return result;
}

void hw_overlap_add_wake(uint64_t wake_ns)
{
    pthread_mutex_lock(&lock);
    window.wake_ns += wake_ns;
    pthread_mutex_unlock(&lock);
}

/* As much was completed in the window as was posted. */
static void end_round(uint64_t now_ns)
{
    window.round_count++;
    window.has_posts = window.has_completed = false;
    uint64_t since_ns = now_ns - window.opened_ns;
    if (hw_policy_rounds_end(window.class, window.round_count, since_ns))
        continue_window(now_ns);
}

void hw_overlap_returned(uint64_t blocked_ns)
{
    pthread_mutex_lock(&lock);
    uint32_t outstanding = hw_atomic_load_seq_cst(&hw_request_outstanding);
    window.blocked_ns += blocked_ns;
    window.has_completed |= outstanding < last_outstanding;
    last_outstanding = outstanding;
    if (window.class && outstanding == 0)
        close_window(hw_clock_now_ns(), window.base > 0);
    else if (window.class && window.has_posts && outstanding <= window.base)
        end_round(hw_clock_now_ns());
    pthread_mutex_unlock(&lock);
}

void hw_overlap_blocked(uint64_t began_ns)
{
    pthread_mutex_lock(&lock);
    uint64_t now_ns = hw_clock_now_ns();
    if (window.class && began_ns >= window.opened_ns)
        window.elsewhere_ns += now_ns - began_ns;
    /* A receive that is always posted must not make every call of the program pay for long. */
    if (!window.class || (now_ns - window.opened_ns > MAX_WINDOW_NS && !window.is_held))
        hw_inside_want(HW_INSIDE_TIMES, false);
    pthread_mutex_unlock(&lock);
}

void hw_overlap_interfere(bool wants_pause, bool wants_listening)
{
    pthread_mutex_lock(&lock);
    is_paused = wants_pause;
    is_listened = wants_listening;
    if (window.class && (is_paused || is_listened))
        window.is_interfered = true;
    if (window.class && is_listened) {
        window.is_on = true;
        set_held(false);
    }
    pthread_mutex_unlock(&lock);
}

void hw_overlap_looked(const struct hw_probe_wire *wire, uint64_t now_ns)
{
    pthread_mutex_lock(&lock);
    if (window.class)
        hw_movement_note(&window.movement, wire, window.bytes, now_ns);
    pthread_mutex_unlock(&lock);
}

static struct hw_probe_window probed_window(void)
{
    return (struct hw_probe_window){
        .bytes = window.bytes, .sent_bytes = window.sent_bytes, .has_rounds = hw_overlap_has_rounds()};
}

void hw_overlap_looked_first(const struct hw_probe_wire *wire, uint64_t now_ns)
{
    pthread_mutex_lock(&lock);
    if (window.class && window.is_on) {
        hw_movement_note(&window.movement, wire, window.bytes, now_ns);
        struct hw_probe_window probed = probed_window();
        hw_probe_look_first(&window.probe, wire, &probed, now_ns);
        bool may_probe = hw_options.stand_down != HW_OPTION_STAND_DOWN_NEVER && !is_listened;
        bool seems_to_go = wire->has_wire && hw_probe_seems_to_go(wire, &probed);
        uint64_t patience_ns = may_probe && seems_to_go ? hw_policy_watch_ns(window.class) : 0;
        if (patience_ns > 0)
            begin_probe(patience_ns);
    }
    pthread_mutex_unlock(&lock);
}

bool hw_overlap_is_first_look(void)
{
    return hw_atomic_load_relaxed(&is_first_look) && hw_atomic_exchange_seq_cst(&is_first_look, false);
}

bool hw_overlap_wants_wire(void) { return hw_atomic_load_relaxed(&wants_wire); }
uint64_t hw_overlap_watch_ns(void) { return hw_atomic_load_relaxed(&watch_ns); }

bool hw_overlap_goes_by_itself(const struct hw_probe_wire *wire, uint64_t now_ns)
{
    pthread_mutex_lock(&lock);
    struct hw_probe *probe = &window.probe;
    struct hw_probe_window probed = probed_window();
    /* A window that has opened since is looked at first. */
    bool is_watching = window.class && window.is_probe && !window.has_begun && probe->looked_ns != 0;
    bool result = is_watching && hw_probe_goes_on(probe, wire, &probed, now_ns);
    if (is_watching)
        hw_atomic_store_relaxed(&watch_ns, result ? hw_probe_next_ns(probe, wire, &probed, now_ns) : 0);
    if (is_watching && !result) {
        window.has_begun = true;
        hw_probe_end(probe, wire);
        hw_atomic_store_relaxed(&wants_wire, true); /* what the thread is needed for moves now */
    }
    pthread_mutex_unlock(&lock);
    return result;
}

uint64_t hw_overlap_gap_ns(void) { return hw_atomic_load_relaxed(&gap_ns); }
bool hw_overlap_has_rounds(void) { return hw_atomic_load_relaxed(&has_rounds); }
uint64_t hw_overlap_last_post_ns(void) { return hw_atomic_load_relaxed(&last_post_ns); }
bool hw_overlap_expects_wait(void) { return hw_atomic_load_relaxed(&expects_wait); }
bool hw_overlap_waits_at_once(void) { return hw_atomic_load_relaxed(&waits_at_once); }
bool hw_overlap_is_continued(void) { return hw_atomic_load_relaxed(&is_continued); }
bool hw_overlap_is_open(void) { return hw_atomic_load_relaxed(&is_open); }
bool hw_overlap_is_on(void) { return hw_atomic_load_relaxed(&is_on); }
