/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: an alarm ends a sleep, at once or later, also if it was set before; a program that closes all
 * descriptors is noticed. */
#include "progress/alarm.h"

#include "base/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

/* No test waits so long: it would end by a limit of time. */
#define LONG_NS (UINT64_C(3600) * HW_NS_PER_S)

static struct hw_alarm alarm_set;

static int start(void **state)
{
    (void)state;
    return hw_alarm_open(&alarm_set) ? 0 : 1;
}

static int stop(void **state)
{
    (void)state;
    hw_alarm_close(&alarm_set);
    return 0;
}

static void alarm_set_before_ends_the_sleep(void **state)
{
    (void)state;
    hw_alarm_set(&alarm_set, 0);
    hw_alarm_sleep(&alarm_set, LONG_NS);
    hw_alarm_set(&alarm_set, 2 * HW_NS_PER_MS);
    hw_alarm_sleep(&alarm_set, LONG_NS);
}

static void *set_from_another_thread(void *unused)
{
    (void)unused;
    hw_alarm_set(&alarm_set, 0);
    return NULL;
}

static void alarm_of_another_thread_ends_the_sleep(void **state)
{
    (void)state;
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, set_from_another_thread, NULL), 0);
    hw_alarm_sleep(&alarm_set, LONG_NS);
    pthread_join(other, NULL);
}

static void later_setting_takes_the_place_of_the_earlier(void **state)
{
    (void)state;
    hw_alarm_set(&alarm_set, LONG_NS);
    hw_alarm_set(&alarm_set, 0);
    hw_alarm_sleep(&alarm_set, LONG_NS);
}

static void cancelled_alarm_ends_no_sleep(void **state)
{
    (void)state;
    enum { SHORT_NS = 20 * 1000 * 1000 };
    hw_alarm_set(&alarm_set, SHORT_NS / 4);
    hw_alarm_cancel(&alarm_set);
    uint64_t began_ns = hw_clock_now_ns();
    hw_alarm_sleep(&alarm_set, SHORT_NS);
    assert_true(hw_clock_now_ns() - began_ns >= SHORT_NS);
    hw_alarm_set(&alarm_set, 0);
    hw_alarm_sleep(&alarm_set, LONG_NS);
}

static void closed_descriptors_are_noticed(void **state)
{
    (void)state;
    struct hw_alarm closed;
    assert_true(hw_alarm_open(&closed));
    assert_true(hw_alarm_is_there(&closed));
    close(closed.timer_fd);
    close(closed.witness_fd);
    assert_false(hw_alarm_is_there(&closed));
    hw_alarm_set(&closed, 0); /* touches nothing */
    hw_alarm_close(&closed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(alarm_set_before_ends_the_sleep, start, stop),
        cmocka_unit_test_setup_teardown(alarm_of_another_thread_ends_the_sleep, start, stop),
        cmocka_unit_test_setup_teardown(later_setting_takes_the_place_of_the_earlier, start, stop),
        cmocka_unit_test_setup_teardown(cancelled_alarm_ends_no_sleep, start, stop),
        cmocka_unit_test(closed_descriptors_are_noticed),
    };
    return cmocka_run_group_tests_name("alarm", tests, NULL, NULL);
}
