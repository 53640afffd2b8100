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

/* A program that computes for compute_ns and finds unread data each `every`th time. Returns after how many
 * rounds it is known that others wait; 0: never in 10,000. */
static int rounds_until_awaited(uint64_t compute_ns, int every)
{
    struct hw_policy_awaited awaited;
    uint64_t now_ns = 5 * S;
    hw_policy_awaited_begin(&awaited, now_ns);
    for (int i = 1; i <= 10000; i++) {
        now_ns += compute_ns;
        if (hw_policy_awaited_seen(&awaited, i % every == 0, compute_ns, now_ns))
            return i;
    }
    return 0;
}

static void a_computing_target_is_found_at_once(void **state)
{
    (void)state;
    assert_int_equal(rounds_until_awaited(20 * MS, 1), 1);
    assert_int_equal(rounds_until_awaited(3 * MS, 1), 3);
    assert_int_equal(rounds_until_awaited(500 * US, 1), 4);
}

static void a_program_that_comes_by_often_is_not(void **state)
{
    (void)state;
    assert_int_equal(rounds_until_awaited(50 * US, 1), 0);
    assert_int_equal(rounds_until_awaited(3 * MS, 10), 0); /* a twentieth of the time */
}

static void what_was_seen_long_ago_does_not_add_up(void **state)
{
    (void)state;
    struct hw_policy_awaited awaited;
    uint64_t now_ns = 5 * S;
    hw_policy_awaited_begin(&awaited, now_ns);
    assert_false(hw_policy_awaited_seen(&awaited, true, 12 * MS, now_ns += 20 * MS));
    for (int i = 0; i < 100; i++)
        assert_false(hw_policy_awaited_seen(&awaited, false, 50 * MS, now_ns += 50 * MS));
    assert_false(hw_policy_awaited_seen(&awaited, true, 12 * MS, now_ns += 12 * MS));
}

/* Looks are seldom where windows are short: each stands for the windows between it and the one before. */
static void a_look_stands_for_the_time_since_the_last(void **state)
{
    (void)state;
    struct hw_policy_awaited awaited;
    uint64_t now_ns = 5 * S;
    hw_policy_awaited_begin(&awaited, now_ns);
    int looks = 1;
    while (!hw_policy_awaited_seen(&awaited, looks % 3 == 0, 500 * US, now_ns += 10 * MS) && looks < 100)
        looks++;
    assert_in_range(looks, 9, 40);
}

static void data_that_were_there_before_count_from_the_beginning(void **state)
{
    (void)state;
    struct hw_policy_awaited awaited;
    hw_policy_awaited_begin(&awaited, 5 * S);
    assert_false(hw_policy_awaited_seen(&awaited, true, 10 * S, 5 * S + 1 * MS));
    assert_int_equal(awaited.waited_ns, 500 * US);
}

static void evidence_is_gathered_anew_after_a_term(void **state)
{
    (void)state;
    struct hw_policy_awaited awaited;
    uint64_t now_ns = 5 * S, first_ns, second_ns;
    hw_policy_awaited_begin(&awaited, now_ns);
    assert_true(hw_policy_awaited_seen(&awaited, true, 20 * MS, now_ns += 20 * MS));
    assert_true(awaited.is_awaited);
    for (first_ns = 0; !hw_policy_awaited_is_over(&awaited, true, now_ns + first_ns);)
        first_ns += 10 * MS;
    assert_false(awaited.is_awaited);
    assert_in_range(first_ns, 500 * MS, 2 * S);
    now_ns += first_ns;
    assert_true(hw_policy_awaited_seen(&awaited, true, 20 * MS, now_ns += 20 * MS));
    for (second_ns = 0; !hw_policy_awaited_is_over(&awaited, true, now_ns + second_ns);)
        second_ns += 10 * MS;
    assert_true(second_ns > first_ns); /* what held twice holds for longer */
}

/* Serves rounds of one turn each, which gains so much. Returns after how many it stands back; 0: never in
 * 100. */
static int rounds_until_in_vain(struct hw_policy_awaited *awaited, uint64_t *now_ns, uint64_t cost_ns,
                                uint64_t first_gain_ns, uint64_t gain_ns)
{
    hw_policy_awaited_begin(awaited, *now_ns);
    assert_true(hw_policy_awaited_seen(awaited, true, 20 * MS, *now_ns += 20 * MS));
    hw_policy_awaited_gain(awaited, first_gain_ns);
    for (int i = 1; i <= 100; i++) {
        if (hw_policy_awaited_is_judged(awaited)) {
            hw_policy_awaited_turn(awaited, cost_ns);
            hw_policy_awaited_gain(awaited, gain_ns);
        }
        if (hw_policy_awaited_is_over(awaited, true, *now_ns += 1 * MS))
            return i;
    }
    return 0;
}

static void turns_without_answers_are_in_vain(void **state)
{
    (void)state;
    struct hw_policy_awaited awaited;
    uint64_t now_ns = 5 * S, stopped_ns;
    assert_in_range(rounds_until_in_vain(&awaited, &now_ns, 400 * US, 0, 0), 3, 6);
    assert_false(awaited.is_awaited);
    stopped_ns = now_ns;
    for (int i = 0; i < 1000 && !awaited.is_awaited; i++)
        hw_policy_awaited_seen(&awaited, true, 20 * MS, now_ns += 20 * MS);
    assert_true(awaited.is_awaited); /* not for ever */
    assert_in_range(now_ns - stopped_ns, 900 * MS, 1200 * MS);
}

static void turns_whose_answers_gain_are_not(void **state)
{
    (void)state;
    struct hw_policy_awaited awaited;
    uint64_t now_ns = 5 * S;
    assert_int_equal(rounds_until_in_vain(&awaited, &now_ns, 400 * US, 0, 1 * MS), 0);
    assert_true(awaited.is_settled);
    assert_false(hw_policy_awaited_is_judged(&awaited));
}

static void one_gain_at_first_does_not_last(void **state)
{
    (void)state;
    struct hw_policy_awaited awaited;
    uint64_t now_ns = 5 * S;
    assert_in_range(rounds_until_in_vain(&awaited, &now_ns, 400 * US, 7 * MS, 0), 6, 12);
}

static void the_answer_to_what_is_long_comes_at_its_end(void **state)
{
    (void)state;
    struct hw_policy_awaited awaited;
    uint64_t now_ns = 5 * S;
    hw_policy_awaited_begin(&awaited, now_ns);
    assert_true(hw_policy_awaited_seen(&awaited, true, 20 * MS, now_ns += 20 * MS));
    hw_policy_awaited_turn(&awaited, 6 * MS);
    assert_false(hw_policy_awaited_is_over(&awaited, false, now_ns += 30 * MS));
    hw_policy_awaited_gain(&awaited, 50 * MS);
    assert_false(hw_policy_awaited_is_over(&awaited, true, now_ns += 30 * MS));
}

static void a_term_that_cannot_be_judged_is_not(void **state)
{
    (void)state;
    struct hw_policy_awaited awaited;
    uint64_t now_ns = 5 * S;
    hw_policy_awaited_begin(&awaited, now_ns);
    assert_true(hw_policy_awaited_seen(&awaited, true, 20 * MS, now_ns += 20 * MS));
    hw_policy_awaited_settle(&awaited);
    hw_policy_awaited_turn(&awaited, 6 * MS);
    assert_false(hw_policy_awaited_is_judged(&awaited));
    assert_false(hw_policy_awaited_is_over(&awaited, true, now_ns += 30 * MS));
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
        cmocka_unit_test(a_look_stands_for_the_time_since_the_last),
        cmocka_unit_test(data_that_were_there_before_count_from_the_beginning),
        cmocka_unit_test(evidence_is_gathered_anew_after_a_term),
        cmocka_unit_test(turns_without_answers_are_in_vain),
        cmocka_unit_test(turns_whose_answers_gain_are_not),
        cmocka_unit_test(one_gain_at_first_does_not_last),
        cmocka_unit_test(the_answer_to_what_is_long_comes_at_its_end),
        cmocka_unit_test(a_term_that_cannot_be_judged_is_not),
        cmocka_unit_test(the_clock_is_read_seldom_where_calls_come_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
