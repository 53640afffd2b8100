/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the window of overlap: blocking calls are timed while one is open, and are no computation. */
#include "engines/thread/overlap.h"

#include "base/clock.h"
#include "profile/record/counters.h"
#include "progress/inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void post(void)
{
    bool is_new;
    hw_overlap_posted(HW_REQUEST_P2P, 1 << 20, false, &is_new);
    assert_true(is_new);
}

/* As of the last request: nothing is outstanding in the tracker, which this test does not use. */
static void complete(void) { hw_overlap_returned(0); }

static void calls_are_timed_while_a_window_is_open(void **state)
{
    (void)state;
    assert_false(hw_inside_wants(HW_INSIDE_TIMES));
    post();
    assert_true(hw_inside_wants(HW_INSIDE_TIMES));
    complete();
    assert_false(hw_inside_wants(HW_INSIDE_TIMES));
}

/* It began to be timed, and the window was closed by another thread meanwhile. */
static void call_that_outlives_its_window_counts_for_none(void **state)
{
    (void)state;
    post();
    uint64_t began_ns = hw_clock_now_ns();
    complete();
    hw_overlap_blocked(began_ns);
    assert_false(hw_inside_wants(HW_INSIDE_TIMES));
    post();
    uint64_t before_ns = atomic_load(&hw_counters.overlapped_ns);
    uint64_t opened_ns = hw_clock_now_ns();
    hw_overlap_blocked(began_ns);
    uint64_t closing_ns = hw_clock_now_ns();
    complete();
    assert_true(atomic_load(&hw_counters.overlapped_ns) - before_ns >= closing_ns - opened_ns);
}

static void time_in_blocking_calls_is_not_overlapped(void **state)
{
    (void)state;
    enum { CALL_NS = 2000000 };
    uint64_t before_ns = atomic_load(&hw_counters.overlapped_ns), start_ns = hw_clock_now_ns();
    post();
    uint64_t began_ns = hw_clock_now_ns(), ended_ns = began_ns;
    while (ended_ns < began_ns + CALL_NS)
        ended_ns = hw_clock_now_ns();
    hw_overlap_blocked(began_ns);
    complete();
    uint64_t rest_ns = hw_clock_now_ns() - start_ns - (ended_ns - began_ns);
    assert_true(atomic_load(&hw_counters.overlapped_ns) - before_ns <= rest_ns);
}

static void time_in_later_posts_is_not_overlapped(void **state)
{
    (void)state;
    enum { POST_NS = 2000000 };
    bool is_new;
    uint64_t before_ns = atomic_load(&hw_counters.overlapped_ns), start_ns = hw_clock_now_ns();
    post();
    hw_overlap_posts();
    uint64_t began_ns = hw_clock_now_ns(), ended_ns = began_ns;
    while (ended_ns < began_ns + POST_NS)
        ended_ns = hw_clock_now_ns();
    hw_overlap_posted(HW_REQUEST_P2P, 1 << 20, false, &is_new);
    complete();
    uint64_t rest_ns = hw_clock_now_ns() - start_ns - (ended_ns - began_ns);
    assert_true(atomic_load(&hw_counters.overlapped_ns) - before_ns <= rest_ns);
}

/* A receive that is always posted: after a while calls are not timed any more. */
static void long_windows_are_not_timed_for_ever(void **state)
{
    (void)state;
    post();
    uint64_t began_ns = hw_clock_now_ns();
    while (hw_clock_now_ns() <= began_ns + 100 * HW_NS_PER_MS)
        ;
    hw_overlap_blocked(began_ns);
    assert_false(hw_inside_wants(HW_INSIDE_TIMES));
    complete();
}

static uint64_t counted(const atomic_uint_fast64_t *counter) { return atomic_load(counter); }

static void compute(uint64_t ns)
{
    uint64_t began_ns = hw_clock_now_ns();
    while (hw_clock_now_ns() < began_ns + ns)
        ;
}

/* A window in which the bytes move while the thread looks, then none is waited for: what it would have cost
 * without the thread lies between bounds, and is no more than what the program did meanwhile. */
static void gain_is_what_moved_while_the_thread_looked(void **state)
{
    (void)state;
    enum { WINDOWS = 2, BYTES = 1 << 20, STEP_NS = 2000000, STEPS = 4 };
    uint64_t windows = counted(&hw_counters.judged_windows), on_ns = counted(&hw_counters.judged_on_ns);
    uint64_t low_ns = counted(&hw_counters.judged_off_low_ns), off_ns = counted(&hw_counters.judged_off_ns);
    uint64_t high_ns = counted(&hw_counters.judged_off_high_ns), began_ns = hw_clock_now_ns();
    struct hw_probe_wire wire = {.has_wire = true};
    for (int i = 0; i < WINDOWS; i++) {
        bool is_new;
        hw_overlap_posted(HW_REQUEST_RMA, BYTES, true, &is_new);
        assert_true(hw_overlap_is_on() && hw_overlap_is_first_look());
        hw_overlap_looked_first(&wire, hw_clock_now_ns());
        for (int step = 0; step < STEPS; step++) {
            compute(STEP_NS);
            wire.moved_bytes += BYTES / STEPS;
            assert_true(hw_overlap_wants_wire());
            hw_overlap_looked(&wire, hw_clock_now_ns());
        }
        complete();
    }
    uint64_t took_ns = hw_clock_now_ns() - began_ns;
    assert_int_equal(counted(&hw_counters.judged_windows) - windows, WINDOWS);
    low_ns = counted(&hw_counters.judged_off_low_ns) - low_ns;
    off_ns = counted(&hw_counters.judged_off_ns) - off_ns;
    high_ns = counted(&hw_counters.judged_off_high_ns) - high_ns;
    on_ns = counted(&hw_counters.judged_on_ns) - on_ns;
    assert_true(off_ns > 0 && low_ns <= off_ns && off_ns <= high_ns);
    assert_true(high_ns <= took_ns + on_ns);
}

/* A window opens, and the thread looks first. Returns for how long it then watches; 0: it begins. */
static uint64_t look_first(enum hw_request_kind kind, uint64_t bytes, bool is_receive,
                           const struct hw_probe_wire *wire, uint64_t now_ns)
{
    bool is_new;
    hw_overlap_posted(kind, bytes, is_receive, &is_new);
    assert_true(hw_overlap_is_on() && hw_overlap_is_first_look());
    hw_overlap_looked_first(wire, now_ns);
    return hw_overlap_watch_ns();
}

/* All is queued, so the thread watches first. While bytes leave it goes on; where they lie still the other
 * end does not read, and may be watching, too: then the thread begins. */
static void queue_that_does_not_move_ends_a_probe(void **state)
{
    (void)state;
    enum { BYTES = 3 << 20 };
    struct hw_probe_wire wire = {.has_wire = true, .queued_bytes = BYTES, .unsent_bytes = BYTES};
    uint64_t now_ns = hw_clock_now_ns(), watch_ns = look_first(HW_REQUEST_RMA, BYTES, false, &wire, now_ns);
    assert_true(watch_ns > 0);
    for (int step = 0; step < 8; step++) {
        now_ns += watch_ns;
        wire.moved_bytes += BYTES / 16;
        wire.queued_bytes -= BYTES / 16;
        assert_true(hw_overlap_goes_by_itself(&wire, now_ns));
    }
    now_ns += watch_ns;
    assert_true(hw_overlap_goes_by_itself(&wire, now_ns)); /* queued bytes have longer */
    now_ns += 2 * watch_ns;
    wire.unsent_bytes = 0; /* on their way, and the answer is late */
    assert_true(hw_overlap_goes_by_itself(&wire, now_ns));
    wire.unsent_bytes = wire.queued_bytes;
    assert_false(hw_overlap_goes_by_itself(&wire, now_ns));
    assert_int_equal(hw_overlap_watch_ns(), 0);
    complete();
}

/* Nothing is left that the thread could be needed for, as far as is known. What had come before the first
 * look counts, too. It looks at last, since the partner may wait for an answer. */
static void transfer_that_is_over_needs_no_thread(void **state)
{
    (void)state;
    enum { BYTES = 11 << 20, EARLY = 200 << 10 };
    struct hw_probe_wire wire = {.has_wire = true, .unread_bytes = EARLY};
    uint64_t began_ns = hw_clock_now_ns(), now_ns = began_ns;
    assert_true(look_first(HW_REQUEST_P2P, BYTES, true, &wire, now_ns) > 0);
    now_ns += 10 * HW_NS_PER_MS;
    wire.moved_bytes = BYTES - EARLY;
    assert_true(hw_overlap_goes_by_itself(&wire, now_ns));
    int naps = 1; /* short ones: more may be posted meanwhile */
    for (; naps < 100 && hw_overlap_watch_ns() > 0; naps++) {
        assert_true(hw_overlap_watch_ns() <= 5 * HW_NS_PER_MS);
        now_ns += hw_overlap_watch_ns();
        hw_overlap_goes_by_itself(&wire, now_ns);
    }
    assert_true(naps > 2 && naps < 100);
    assert_in_range(now_ns - began_ns, 20 * HW_NS_PER_MS, 30 * HW_NS_PER_MS);
    complete();
}

/* A message may be missing: the partner has announced it, and its data come when this process answers. */
static void message_that_is_missing_ends_a_probe(void **state)
{
    (void)state;
    enum { BYTES = 13 << 20, MISSING = 128 << 10 };
    struct hw_probe_wire wire = {.has_wire = true, .unread_bytes = MISSING};
    uint64_t now_ns = hw_clock_now_ns();
    assert_true(look_first(HW_REQUEST_P2P, BYTES, true, &wire, now_ns) > 0);
    now_ns += 10 * HW_NS_PER_MS;
    wire.moved_bytes = BYTES - 2 * MISSING;
    assert_true(hw_overlap_goes_by_itself(&wire, now_ns));
    now_ns += hw_overlap_watch_ns();
    assert_false(hw_overlap_goes_by_itself(&wire, now_ns));
    complete();
}

/* The next round is this process's to begin, though others' bytes still come in. */
static void round_that_is_over_ends_a_probe(void **state)
{
    (void)state;
    enum { BYTES = 5 << 20 };
    struct hw_probe_wire wire = {.has_wire = true, .queued_bytes = BYTES};
    uint64_t now_ns = hw_clock_now_ns();
    assert_true(look_first(HW_REQUEST_COLLECTIVE, BYTES, false, &wire, now_ns) > 0);
    now_ns += hw_overlap_watch_ns();
    wire.moved_bytes = wire.queued_bytes = BYTES / 2;
    assert_true(hw_overlap_goes_by_itself(&wire, now_ns));
    now_ns += hw_overlap_watch_ns();
    wire.moved_bytes = 2 * BYTES;
    wire.queued_bytes = 0;
    assert_false(hw_overlap_goes_by_itself(&wire, now_ns));
    complete();
}

/* Nobody had to ask for them, so more may come by themselves. */
static void data_that_came_begin_a_probe(void **state)
{
    (void)state;
    enum { BYTES = 33 << 20 }; /* of a class of its own: what others have learnt depends on time */
    struct hw_probe_wire wire = {.has_wire = true};
    assert_int_equal(look_first(HW_REQUEST_P2P, BYTES, true, &wire, hw_clock_now_ns()), 0);
    complete();
    wire.unread_bytes = BYTES / 8;
    assert_true(look_first(HW_REQUEST_P2P, BYTES, true, &wire, hw_clock_now_ns()) > 0);
    complete();
}

/* Of a program that has two exchanges under way: the next one is posted, then the last one completed. */
static void exchange_beside_another(void)
{
    enum { COMPUTED_NS = 500000 };
    bool is_new;
    atomic_fetch_add(&hw_request_outstanding, 1);
    hw_overlap_posted(HW_REQUEST_P2P, 17 << 20, false, &is_new);
    compute(COMPUTED_NS);
    atomic_fetch_sub(&hw_request_outstanding, 1);
    hw_overlap_returned(0);
    assert_true(hw_overlap_is_open());
}

/* A window is open all the time, and is another one after some rounds. */
static void rounds_end_windows_though_something_is_outstanding(void **state)
{
    (void)state;
    enum { FIRST_ROUNDS = 2, ROUNDS = 4, WINDOWS = 3 };
    uint64_t windows = counted(&hw_counters.overlap_windows);
    bool is_new;
    atomic_fetch_add(&hw_request_outstanding, 1);
    hw_overlap_posted(HW_REQUEST_P2P, 17 << 20, false, &is_new);
    for (int i = 0; i < FIRST_ROUNDS; i++)
        exchange_beside_another();
    assert_int_equal(counted(&hw_counters.overlap_windows) - windows, 2);
    assert_true(hw_overlap_is_continued());
    for (int i = 1; i < ROUNDS * WINDOWS; i++)
        exchange_beside_another();
    assert_int_equal(counted(&hw_counters.overlap_windows) - windows, 2 + WINDOWS);
    atomic_fetch_sub(&hw_request_outstanding, 1);
    complete();
    assert_false(hw_overlap_is_open() || hw_overlap_is_continued());
}

/* A receive for whatever may come: other exchanges have windows of their own. */
static void what_is_always_posted_keeps_no_window_open_for_long(void **state)
{
    (void)state;
    enum { ROUNDS = 9 };
    bool is_new;
    uint64_t windows = counted(&hw_counters.overlap_windows);
    atomic_fetch_add(&hw_request_outstanding, 1);
    hw_overlap_posted(HW_REQUEST_P2P, 33 << 20, true, &is_new);
    for (int i = 0; i < ROUNDS; i++)
        exchange_beside_another();
    assert_true(counted(&hw_counters.overlap_windows) - windows > ROUNDS / 4);
    atomic_fetch_sub(&hw_request_outstanding, 1);
    complete();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_timed_while_a_window_is_open),
        cmocka_unit_test(call_that_outlives_its_window_counts_for_none),
        cmocka_unit_test(time_in_blocking_calls_is_not_overlapped),
        cmocka_unit_test(time_in_later_posts_is_not_overlapped),
        cmocka_unit_test(long_windows_are_not_timed_for_ever),
        cmocka_unit_test(gain_is_what_moved_while_the_thread_looked),
        cmocka_unit_test(queue_that_does_not_move_ends_a_probe),
        cmocka_unit_test(transfer_that_is_over_needs_no_thread),
        cmocka_unit_test(message_that_is_missing_ends_a_probe),
        cmocka_unit_test(round_that_is_over_ends_a_probe),
        cmocka_unit_test(data_that_came_begin_a_probe),
        cmocka_unit_test(rounds_end_windows_though_something_is_outstanding),
        cmocka_unit_test(what_is_always_posted_keeps_no_window_open_for_long),
    };
    return cmocka_run_group_tests_name("overlap", tests, NULL, NULL);
}
