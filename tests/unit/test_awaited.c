/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: whether others wait for this process: evidence, its share of the time, terms, and how often to
 * look. */
#include "policy/awaited.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { US = 1000, MS = 1000 * US };
#define S (UINT64_C(1000) * MS)

/* A program that computes for `compute_ns` and then finds data that came in its first half. Returns after how
 * many rounds it is known that others wait; 0: never in 10,000. */
static int rounds_until_awaited(uint64_t compute_ns, uint64_t age_ns)
{
    struct hw_policy_awaited awaited;
    uint64_t now_ns = 5 * S;
    hw_policy_awaited_begin(&awaited, now_ns);
    for (int i = 1; i <= 10000; i++) {
        now_ns += compute_ns;
        if (hw_policy_awaited_seen(&awaited, age_ns, now_ns))
            return i;
    }
    return 0;
}

static void a_computing_target_is_found_at_once(void **state)
{
    (void)state;
    assert_int_equal(rounds_until_awaited(20 * MS, 10 * MS), 1);
    assert_int_equal(rounds_until_awaited(10 * MS, 4 * MS), 2);
    assert_int_equal(rounds_until_awaited(3 * MS, 2 * MS), 4);
}

static void a_program_that_comes_by_often_is_not(void **state)
{
    (void)state;
    assert_int_equal(rounds_until_awaited(1 * MS, 0), 0);
    assert_int_equal(rounds_until_awaited(40 * MS, 4 * MS), 0); /* a tenth of the time */
}

static void what_was_seen_long_ago_does_not_add_up(void **state)
{
    (void)state;
    struct hw_policy_awaited awaited;
    uint64_t now_ns = 5 * S;
    hw_policy_awaited_begin(&awaited, now_ns);
    assert_false(hw_policy_awaited_seen(&awaited, 4 * MS, now_ns += 20 * MS));
    for (int i = 0; i < 100; i++)
        assert_false(hw_policy_awaited_seen(&awaited, 0, now_ns += 100 * MS));
    assert_false(hw_policy_awaited_seen(&awaited, 6 * MS, now_ns += 20 * MS));
}

static void data_that_were_there_before_count_from_the_beginning(void **state)
{
    (void)state;
    struct hw_policy_awaited awaited;
    hw_policy_awaited_begin(&awaited, 5 * S);
    assert_false(hw_policy_awaited_seen(&awaited, 10 * S, 5 * S + 1 * MS));
    assert_int_equal(awaited.waited_ns, 1 * MS);
}

static void evidence_is_gathered_anew_after_a_term(void **state)
{
    (void)state;
    struct hw_policy_awaited awaited;
    uint64_t now_ns = 5 * S, first_ns, second_ns;
    hw_policy_awaited_begin(&awaited, now_ns);
    assert_true(hw_policy_awaited_seen(&awaited, 20 * MS, now_ns += 20 * MS));
    assert_true(awaited.is_awaited);
    for (first_ns = 0; !hw_policy_awaited_is_over(&awaited, now_ns + first_ns);)
        first_ns += 10 * MS;
    assert_false(awaited.is_awaited);
    assert_in_range(first_ns, 500 * MS, 2 * S);
    now_ns += first_ns;
    assert_true(hw_policy_awaited_seen(&awaited, 10 * MS, now_ns += 10 * MS));
    for (second_ns = 0; !hw_policy_awaited_is_over(&awaited, now_ns + second_ns);)
        second_ns += 10 * MS;
    assert_true(second_ns > first_ns); /* what held twice holds for longer */
}

static void the_clock_is_read_seldom_where_calls_come_often(void **state)
{
    (void)state;
    assert_int_equal(hw_policy_awaited_stride(1 * MS, 1), 1);
    assert_int_equal(hw_policy_awaited_stride(20 * US, 10), 10);
    assert_int_equal(hw_policy_awaited_stride(0, 5), 64);
    assert_int_equal(hw_policy_awaited_stride(1 * MS, 0), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_computing_target_is_found_at_once),
        cmocka_unit_test(a_program_that_comes_by_often_is_not),
        cmocka_unit_test(what_was_seen_long_ago_does_not_add_up),
        cmocka_unit_test(data_that_were_there_before_count_from_the_beginning),
        cmocka_unit_test(evidence_is_gathered_anew_after_a_term),
        cmocka_unit_test(the_clock_is_read_seldom_where_calls_come_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
