/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: windows of a program that always has something outstanding: what its transfers take says
 * nothing of what is lost without the thread, so that is tried soon, and decides. */
#include "policy/policy.h"
#include "policy/rounds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MS = 1000000, MOVING_NS = 30 * MS, COMPUTED_NS = 32 * MS };

static struct {
    struct hw_policy_class class;
    struct hw_policy_ledger ledger;
    uint64_t now_ns;
    int off_count, probe_count;
} run;

/* Windows in which the thread sees bytes move nearly all the time. */
static void run_windows(int count, uint64_t on_wait_ns, uint64_t off_wait_ns)
{
    for (int i = 0; i < count; i++) {
        enum hw_policy_way way = hw_policy_begin(&run.class, &run.ledger, run.now_ns);
        bool is_on = way != HW_POLICY_WAY_OFF;
        uint64_t wait_ns = is_on ? on_wait_ns : off_wait_ns;
        const struct hw_policy_window window = {
            .was_on = is_on,
            .has_wire = true,
            .wire_bytes = 8 << 20,
            .bytes = 8 << 20,
            .is_cut = true,
            .opened_ns = run.now_ns,
            .blocked_ns = wait_ns,
            .overhead_ns = is_on ? MS : 0,
            .duration_ns = COMPUTED_NS + wait_ns,
            .moving_ns = is_on ? MOVING_NS : 0,
        };
        run.off_count += !is_on;
        run.probe_count += way == HW_POLICY_WAY_PROBE;
        run.now_ns += window.duration_ns;
        hw_policy_end(&run.class, &run.ledger, &window);
    }
}

static int begin(void **state)
{
    (void)state;
    run.class = (struct hw_policy_class){.is_continued = true};
    run.ledger = (struct hw_policy_ledger){0};
    run.now_ns = MS;
    run.off_count = run.probe_count = 0;
    return 0;
}

static void nothing_is_known_until_it_is_tried(void **state)
{
    (void)state;
    run_windows(4, 20 * MS, 20 * MS);
    assert_int_equal(hw_policy_off_cost_ns(&run.class), 0);
    assert_int_equal(hw_policy_watch_ns(&run.class), 0);
    run_windows(4, 20 * MS, 20 * MS);
    assert_int_equal(hw_policy_off_cost_ns(&run.class), 20 * MS);
    assert_int_equal(run.off_count, 1);
    assert_int_equal(run.probe_count, 0);
}

static void thread_that_lengthens_rounds_stops(void **state)
{
    (void)state;
    run_windows(24, 25 * MS, 20 * MS);
    assert_true(run.class.stands_down);
}

static void thread_that_shortens_them_goes_on(void **state)
{
    (void)state;
    run_windows(64, 5 * MS, 20 * MS);
    assert_false(run.class.stands_down);
    assert_true(run.off_count <= 2);
}

static void slow_windows_are_tried_once(void **state)
{
    (void)state;
    enum { SLOW_MS = 140 };
    run_windows(6, SLOW_MS * MS, 20 * MS);
    assert_int_equal(run.off_count, 1);
}

static void windows_end_with_so_many_rounds(void **state)
{
    (void)state;
    for (uint32_t round = 1; round <= 4; round++)
        assert_int_equal(hw_policy_rounds_end(&run.class, round, round * 10 * MS), round == 4);
    assert_true(hw_policy_rounds_end(&run.class, 4, 400 * MS)); /* the first one was short */
    assert_false(hw_policy_rounds_end(&run.class, 9, MS / 10));
    assert_false(run.class.stands_down);
    struct hw_policy_class slow = {.is_continued = true};
    assert_true(hw_policy_rounds_end(&slow, 1, 40 * MS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_is_known_until_it_is_tried, begin),
        cmocka_unit_test_setup(thread_that_lengthens_rounds_stops, begin),
        cmocka_unit_test_setup(thread_that_shortens_them_goes_on, begin),
        cmocka_unit_test_setup(slow_windows_are_tried_once, begin),
        cmocka_unit_test_setup(windows_end_with_so_many_rounds, begin),
    };
    return cmocka_run_group_tests_name("policy_continued", tests, NULL, NULL);
}
