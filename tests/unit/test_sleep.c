/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the sleep of the progress thread: armed, disarmed, ended by another thread. */
#include "engines/thread/sleep.h"

#include "base/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define LONG_NS (600 * HW_NS_PER_S) /* an alarm is looked after each second; none may be needed here */
#define SOON_NS (5 * HW_NS_PER_MS)

static pthread_t sleeper;

static bool sleeps_on(enum hw_sleep depth)
{
    (void)depth;
    return false;
}

static bool goes_on(enum hw_sleep depth)
{
    (void)depth;
    return true;
}

static void *rest(void *depth)
{
    hw_sleep_rest(*(enum hw_sleep *)depth, LONG_NS, sleeps_on);
    return NULL;
}

/* Returns once it can be seen asleep. */
static void send_to_sleep(enum hw_sleep *depth)
{
    assert_int_equal(pthread_create(&sleeper, NULL, rest, depth), 0);
    while (hw_sleep_is_awake())
        ;
}

static int start(void **state)
{
    (void)state;
    hw_sleep_open();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    hw_sleep_close();
    return 0;
}

static void rest_is_none_where_there_is_work(void **state)
{
    (void)state;
    hw_sleep_rest(HW_SLEEP_NAPPING, LONG_NS, goes_on);
    hw_sleep_rest(HW_SLEEP_PARKED, LONG_NS, goes_on);
    assert_true(hw_sleep_is_awake());
}

static void parked_thread_is_armed_once(void **state)
{
    (void)state;
    enum hw_sleep depth = HW_SLEEP_PARKED;
    send_to_sleep(&depth);
    assert_int_equal(hw_sleep_arm(LONG_NS), HW_SLEEP_IS_ARMED);
    assert_int_equal(hw_sleep_arm(LONG_NS), HW_SLEEP_WAS_ARMED);
    assert_true(hw_sleep_disarm());
    assert_false(hw_sleep_disarm());
    assert_int_equal(hw_sleep_arm(SOON_NS), HW_SLEEP_IS_ARMED);
    pthread_join(sleeper, NULL);
    assert_true(hw_sleep_is_awake());
    assert_false(hw_sleep_disarm());
}

static void disarmed_thread_is_woken(void **state)
{
    (void)state;
    enum hw_sleep depth = HW_SLEEP_PARKED, found;
    send_to_sleep(&depth);
    assert_int_equal(hw_sleep_arm(LONG_NS), HW_SLEEP_IS_ARMED);
    assert_true(hw_sleep_disarm());
    assert_true(hw_sleep_take(HW_SLEEP_PARKED, &found));
    hw_sleep_end(found);
    pthread_join(sleeper, NULL);
}

static void nap_cannot_be_armed(void **state)
{
    (void)state;
    enum hw_sleep depth = HW_SLEEP_NAPPING, found;
    send_to_sleep(&depth);
    assert_int_equal(hw_sleep_arm(LONG_NS), HW_SLEEP_CANNOT_ARM);
    assert_false(hw_sleep_take(HW_SLEEP_PARKED, &found));
    assert_true(hw_sleep_take(HW_SLEEP_NAPPING, &found));
    hw_sleep_end(found);
    pthread_join(sleeper, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rest_is_none_where_there_is_work, start, stop),
        cmocka_unit_test_setup_teardown(parked_thread_is_armed_once, start, stop),
        cmocka_unit_test_setup_teardown(disarmed_thread_is_woken, start, stop),
        cmocka_unit_test_setup_teardown(nap_cannot_be_armed, start, stop),
    };
    return cmocka_run_group_tests_name("sleep", tests, NULL, NULL);
}
