/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the fast clock agrees with CLOCK_MONOTONIC before its scale is known and after, and a thread
 * that reads it meanwhile never sees it go back. */
#include "base/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* What the two may part by in a test's time, and what a thread's readings may go back by where the counters
 * of two cores differ: far less than a wrong scale, or one taken at the wrong moment, would do. */
#define SLACK_NS HW_NS_PER_MS

static bool agrees(void)
{
    uint64_t before = hw_clock_now_ns(), fast = hw_clock_fast_ns(), after = hw_clock_now_ns();
    return fast + SLACK_NS >= before && fast <= after + SLACK_NS;
}

static atomic_bool is_over;

static void *read_on(void *argument)
{
    uint64_t *went_back_ns = argument, last = hw_clock_fast_ns();
    while (!hw_atomic_load_acquire(&is_over)) {
        uint64_t now = hw_clock_fast_ns();
        if (now < last && last - now > *went_back_ns)
            *went_back_ns = last - now;
        last = now;
        usleep(50);
    }
    return NULL;
}

static void scale_is_taken_while_others_read(void **state)
{
    (void)state;
    pthread_t reader;
    uint64_t went_back_ns = 0;
    assert_true(agrees());
    hw_clock_fast_begin();
    assert_true(agrees());
    assert_int_equal(pthread_create(&reader, NULL, read_on, &went_back_ns), 0);
    while (!hw_clock_fast_settle())
        usleep(10000);
    for (int i = 0; i < 10; i++) {
        usleep(10000);
        assert_true(agrees());
    }
    assert_true(hw_clock_fast_settle()); /* it is done once */
    hw_atomic_store_release(&is_over, true);
    pthread_join(reader, NULL);
    assert_true(went_back_ns < SLACK_NS);
}

static void child_goes_on_with_it(void **state)
{
    (void)state;
    uint64_t before = hw_clock_fast_ns();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(agrees() && hw_clock_fast_ns() + SLACK_NS >= before ? 0 : 1);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* As if the counter had run for long: neither overflow nor a jump. */
static void scale_holds_for_years(void **state)
{
    (void)state;
    if (!hw_atomic_load_acquire(&hw_clock_scale.is_known)) {
        print_message("no time-stamp counter the kernel keeps time by: CLOCK_MONOTONIC is read\n");
        assert_int_equal(hw_clock_scale.ns_per_tick, 0);
        return;
    }
    struct hw_clock_scale kept = hw_clock_scale;
    hw_clock_scale.ticks -= (uint64_t)1 << 60; /* at 2 GHz, 18 years */
    uint64_t fast = hw_clock_fast_ns();
    __int128 more = ((__int128)1 << 60) * kept.ns_per_tick >> 32;
    hw_clock_scale.ticks = kept.ticks;
    uint64_t now = hw_clock_fast_ns();
    assert_true(fast - (uint64_t)more <= now + SLACK_NS && fast - (uint64_t)more + HW_NS_PER_S >= now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scale_is_taken_while_others_read),
        cmocka_unit_test(child_goes_on_with_it),
        cmocka_unit_test(scale_holds_for_years),
    };
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
