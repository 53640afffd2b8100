/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what is decided before anything was measured: the smallest message, and the crowded node. */
#include "policy/outset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void small_messages_are_not_worth_a_wake_up(void **state)
{
    (void)state;
    assert_int_equal(hw_policy_min_bytes(0, false), 128 << 10);
    assert_int_equal(hw_policy_min_bytes(64 << 10, false), 128 << 10);
    assert_int_equal(hw_policy_min_bytes(64 << 10, true), 192 << 10);
    assert_int_equal(hw_policy_min_bytes(1 << 20, true), 1 << 20);
    assert_int_equal(hw_policy_min_bytes_of_several(0), 64 << 10);
    assert_int_equal(hw_policy_min_bytes_of_several(100 << 10), 100 << 10);
    assert_false(hw_policy_are_enough(128 << 10, 128 << 10)); /* an exchange of one of 64 KiB */
    assert_true(hw_policy_are_enough(256 << 10, 128 << 10));
}

static void one_node_without_spare_cores_is_crowded(void **state)
{
    (void)state;
    struct hw_policy_cores cores = {.is_one_node = true, .own_count = 4, .has_spare_cores = false};
    assert_true(hw_policy_is_crowded(&cores));
    cores.has_spare_cores = true;
    assert_false(hw_policy_is_crowded(&cores));
    cores.own_count = 1;
    assert_true(hw_policy_is_crowded(&cores));
    cores.own_count = 0;
    assert_false(hw_policy_is_crowded(&cores));
}

static void ghosts_or_several_nodes_are_not(void **state)
{
    (void)state;
    struct hw_policy_cores cores = {.is_one_node = true, .has_ghosts = true, .own_count = 1};
    assert_false(hw_policy_is_crowded(&cores));
    cores = (struct hw_policy_cores){.is_one_node = false, .own_count = 1};
    assert_false(hw_policy_is_crowded(&cores));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_messages_are_not_worth_a_wake_up),
        cmocka_unit_test(one_node_without_spare_cores_is_crowded),
        cmocka_unit_test(ghosts_or_several_nodes_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
