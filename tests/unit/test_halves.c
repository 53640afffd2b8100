/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: which half of an exchange came late: sends beside receives, or receives beside sends, of as
 * much, while the first half was under way. */
#include "engines/thread/halves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MIB = 1 << 20 };

static const struct hw_halves_moment late = {.free_ns = 9, .is_under_way = true, .is_seen = true};
static const struct hw_halves_moment complete = {.free_ns = 9, .is_seen = true};
static const struct hw_halves_moment unseen = {.free_ns = 9, .is_under_way = true};

static struct hw_halves opened_by(bool is_receive)
{
    struct hw_halves halves;
    hw_halves_open(&halves);
    hw_halves_post(&halves, HW_REQUEST_P2P, is_receive);
    return halves;
}

static void as_much_that_is_sent_beside_receives_is_late(void **state)
{
    (void)state;
    struct hw_halves halves = opened_by(true);
    assert_true(hw_halves_send(&halves, MIB, &late));
    assert_false(hw_halves_send(&halves, 1, &complete)); /* the first one counts */
    assert_true(hw_halves_is_late(&halves, MIB, 0));
    assert_int_equal(halves.early_free_ns, 9);
    assert_false(hw_halves_is_late(&halves, 4 * MIB, 0));
}

static void as_much_that_is_received_beside_sends_is_late(void **state)
{
    (void)state;
    struct hw_halves halves = opened_by(false);
    hw_halves_receive(&halves, MIB, &late);
    hw_halves_receive(&halves, 1, &complete);
    assert_true(hw_halves_is_late(&halves, 0, MIB));
    assert_false(hw_halves_is_late(&halves, 0, 4 * MIB));
}

static void nothing_is_late_where_the_first_half_was_complete(void **state)
{
    (void)state;
    struct hw_halves halves = opened_by(true);
    assert_true(hw_halves_send(&halves, MIB, &complete));
    assert_false(hw_halves_is_late(&halves, MIB, 0));
    halves = opened_by(false);
    hw_halves_receive(&halves, MIB, &complete);
    assert_false(hw_halves_is_late(&halves, 0, MIB));
    assert_false(halves.is_unseen);
}

static void nor_where_that_was_not_seen(void **state)
{
    (void)state;
    struct hw_halves halves = opened_by(false);
    hw_halves_receive(&halves, MIB, &unseen);
    assert_false(hw_halves_is_late(&halves, 0, MIB));
    assert_true(halves.is_unseen);
}

static void nor_in_a_mixture(void **state)
{
    (void)state;
    struct hw_halves halves = opened_by(false);
    hw_halves_post(&halves, HW_REQUEST_P2P, true);
    hw_halves_receive(&halves, MIB, &late);
    assert_false(hw_halves_is_late(&halves, MIB, MIB));
    halves = opened_by(true);
    hw_halves_mix(&halves);
    assert_false(hw_halves_send(&halves, MIB, &late));
    assert_false(hw_halves_is_late(&halves, MIB, MIB));
    halves = opened_by(false);
    hw_halves_post(&halves, HW_REQUEST_COLLECTIVE, false);
    hw_halves_receive(&halves, MIB, &late);
    assert_false(hw_halves_is_late(&halves, 0, MIB));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_much_that_is_sent_beside_receives_is_late),
        cmocka_unit_test(as_much_that_is_received_beside_sends_is_late),
        cmocka_unit_test(nothing_is_late_where_the_first_half_was_complete),
        cmocka_unit_test(nor_where_that_was_not_seen),
        cmocka_unit_test(nor_in_a_mixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
