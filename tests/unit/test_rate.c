/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the share of time in MPI is what looks say, the thresholds have two sides, and a byte carries
 * both. */
#include "policy/rate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define S (1000 * MS)

static const struct hw_rate_rule rule = {.low_permille = 890, .high_permille = 950, .interval_ns = S};

/* A second of looks, of which `inside` of 100 find the process inside. Returns how many were judged. */
static int second(struct hw_rate *rate, uint64_t *now_ns, int inside)
{
    int judged = 0;
    for (int i = 0; i < 1000; i++)
        judged += hw_rate_look(rate, &rule, i % 100 < inside, *now_ns += MS);
    return judged;
}

static void a_share_above_the_upper_threshold_is_the_owners(void **state)
{
    (void)state;
    struct hw_rate rate = {0};
    uint64_t now_ns = 5;
    second(&rate, &now_ns, 99);
    assert_int_equal(second(&rate, &now_ns, 99), 1);
    assert_int_equal(rate.says, HW_RATE_OWNER);
    assert_in_range(rate.permille, 980, 1000);
}

static void between_the_thresholds_what_was_said_stays(void **state)
{
    (void)state;
    struct hw_rate rate = {0};
    uint64_t now_ns = 5;
    for (int i = 0; i < 2; i++)
        second(&rate, &now_ns, 92);
    assert_int_equal(rate.says, HW_RATE_NOTHING);
    assert_true(rate.is_judged);
    for (int i = 0; i < 2; i++)
        second(&rate, &now_ns, 10);
    assert_int_equal(rate.says, HW_RATE_GHOST);
    for (int i = 0; i < 3; i++)
        second(&rate, &now_ns, 92);
    assert_int_equal(rate.says, HW_RATE_GHOST);
    for (int i = 0; i < 2; i++)
        second(&rate, &now_ns, 100);
    assert_int_equal(rate.says, HW_RATE_OWNER);
    for (int i = 0; i < 3; i++)
        second(&rate, &now_ns, 92);
    assert_int_equal(rate.says, HW_RATE_OWNER);
}

/* A ghost that sleeps looks seldom. */
static void a_look_stands_for_the_time_since_the_last(void **state)
{
    (void)state;
    struct hw_rate rate = {0};
    uint64_t now_ns = 5;
    hw_rate_look(&rate, &rule, false, now_ns);
    for (int i = 0; i < 20; i++)
        hw_rate_look(&rate, &rule, false, now_ns += MS);
    bool is_judged = false;
    for (int i = 0; i < 10; i++)
        is_judged = hw_rate_look(&rate, &rule, true, now_ns += 98 * MS) || is_judged;
    assert_true(is_judged);
    assert_in_range(rate.permille, 979, 981);
}

static void few_looks_do_not_make_a_judgement(void **state)
{
    (void)state;
    struct hw_rate rate = {0};
    uint64_t now_ns = 5;
    for (int i = 0; i < 8; i++)
        assert_false(hw_rate_look(&rate, &rule, true, now_ns += S));
    assert_true(hw_rate_look(&rate, &rule, true, now_ns += S));
}

static void a_byte_carries_both(void **state)
{
    (void)state;
    struct hw_rate rate = {0};
    assert_int_equal(hw_rate_to_byte(&rate), HW_RATE_BYTE_UNKNOWN);
    assert_int_equal(hw_rate_byte_says(HW_RATE_BYTE_UNKNOWN), HW_RATE_NOTHING);
    assert_int_equal(hw_rate_byte_percent(HW_RATE_BYTE_UNKNOWN), -1);
    for (enum hw_rate_says says = HW_RATE_NOTHING; says <= HW_RATE_OWNER; says++) {
        for (uint32_t permille = 0; permille <= 1000; permille += 25) {
            rate = (struct hw_rate){.is_judged = true, .permille = permille, .says = says};
            uint8_t byte = hw_rate_to_byte(&rate);
            assert_int_not_equal(byte, HW_RATE_BYTE_UNKNOWN);
            assert_int_equal(hw_rate_byte_says(byte), says);
            assert_in_range(hw_rate_byte_percent(byte) + 2, permille / 10, permille / 10 + 4);
        }
    }
    assert_int_equal(hw_rate_byte_says(0xff), HW_RATE_NOTHING); /* no such word */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_share_above_the_upper_threshold_is_the_owners),
        cmocka_unit_test(between_the_thresholds_what_was_said_stays),
        cmocka_unit_test(a_look_stands_for_the_time_since_the_last),
        cmocka_unit_test(few_looks_do_not_make_a_judgement),
        cmocka_unit_test(a_byte_carries_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
