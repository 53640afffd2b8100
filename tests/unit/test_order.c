/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: which programs post sends right after receives, and when such a series is over. */
#include "policy/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SEND, RECEIVE };

static struct hw_policy_order order;

static int forget(void **state)
{
    (void)state;
    order = (struct hw_policy_order){0};
    return 0;
}

static bool post(int what) { return hw_policy_order_post(&order, what == RECEIVE); }

static bool exchange(int receives, int sends)
{
    bool is_last = false;
    for (int i = 0; i < receives; i++)
        assert_false(post(RECEIVE));
    for (int i = 0; i < sends; i++)
        is_last = post(SEND);
    hw_policy_order_end(&order);
    return is_last;
}

static void two_series_are_enough(void **state)
{
    (void)state;
    exchange(1, 1);
    assert_false(hw_policy_order_is_sure(&order));
    exchange(1, 1);
    assert_true(hw_policy_order_is_sure(&order));
}

static void the_last_send_is_known(void **state)
{
    (void)state;
    exchange(4, 4);
    post(RECEIVE);
    for (int i = 0; i < 3; i++)
        assert_false(post(SEND));
    assert_true(post(SEND));
    assert_true(post(SEND)); /* one more than before */
}

static void a_shorter_series_teaches(void **state)
{
    (void)state;
    exchange(4, 4);
    assert_false(exchange(1, 1));
    assert_true(exchange(1, 1));
}

static void receives_and_sends_by_turns_are_a_series(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        for (int pair = 0; pair < 3; pair++) {
            post(RECEIVE);
            post(SEND);
        }
        hw_policy_order_end(&order);
    }
    assert_true(hw_policy_order_is_sure(&order));
    assert_int_equal(order.last_sends, 3);
}

static void sends_before_receives_teach_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        post(SEND);
        post(RECEIVE);
        hw_policy_order_end(&order);
        assert_false(hw_policy_order_is_sure(&order));
    }
    exchange(1, 1);
    exchange(1, 1);
    post(SEND);
    post(RECEIVE);
    hw_policy_order_end(&order);
    assert_true(hw_policy_order_is_sure(&order));
}

/* Of a receive after the last send nothing follows. */
static void receives_after_sends_wait_for_nothing(void **state)
{
    (void)state;
    exchange(1, 1);
    exchange(1, 1);
    post(SEND);
    assert_true(post(RECEIVE));
    hw_policy_order_end(&order);
    exchange(2, 2);
    assert_false(post(RECEIVE));
    assert_false(post(SEND));
    assert_false(post(RECEIVE)); /* another send is expected */
    assert_true(post(SEND));
    assert_true(post(RECEIVE));
}

static void receives_alone_end_it(void **state)
{
    (void)state;
    exchange(1, 1);
    exchange(1, 1);
    exchange(1, 0);
    assert_false(hw_policy_order_is_sure(&order));
    exchange(1, 1);
    assert_false(hw_policy_order_is_sure(&order));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(two_series_are_enough, forget),
        cmocka_unit_test_setup(the_last_send_is_known, forget),
        cmocka_unit_test_setup(a_shorter_series_teaches, forget),
        cmocka_unit_test_setup(receives_and_sends_by_turns_are_a_series, forget),
        cmocka_unit_test_setup(sends_before_receives_teach_nothing, forget),
        cmocka_unit_test_setup(receives_after_sends_wait_for_nothing, forget),
        cmocka_unit_test_setup(receives_alone_end_it, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
