/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the speed of a wire is that of its fastest stretches, without the few that kernels make look
 * faster than it is. */
#include "base/clock.h"
#include "profile/waits/rates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MB = 1000 * 1000 };

static void add(struct hw_rates *rates, int count, uint64_t bytes, uint64_t bytes_per_s)
{
    for (int i = 0; i < count; i++)
        hw_rates_add(rates, bytes, bytes * HW_NS_PER_S / bytes_per_s);
}

static void nothing_is_known_of_nothing(void **state)
{
    (void)state;
    static struct hw_rates rates;
    assert_int_equal(hw_rates_high(&rates), 0);
    hw_rates_add(&rates, 0, 5);
    hw_rates_add(&rates, 5, 0);
    assert_int_equal(hw_rates_high(&rates), 0);
}

static void one_stretch_is_believed(void **state)
{
    (void)state;
    static struct hw_rates rates;
    add(&rates, 1, MB, 100 * MB);
    assert_in_range(hw_rates_high(&rates), 99 * MB, 101 * MB);
}

/* Most of the time the wire waits for others. */
static void slower_stretches_are_no_matter(void **state)
{
    (void)state;
    static struct hw_rates rates;
    add(&rates, 80, MB, 30 * MB);
    add(&rates, 20, MB, 120 * MB);
    assert_in_range(hw_rates_high(&rates), 118 * MB, 122 * MB);
}

static void few_that_are_too_fast_are_not_believed(void **state)
{
    (void)state;
    static struct hw_rates rates;
    add(&rates, 95, MB, 115 * MB);
    add(&rates, 5, MB, 300 * MB);
    assert_in_range(hw_rates_high(&rates), 113 * MB, 117 * MB);
}

static void any_speed_has_its_place(void **state)
{
    (void)state;
    const uint64_t speeds[] = {1, 900, 1024, 2047, 125 * (uint64_t)MB, UINT64_C(1) << 40, UINT64_C(1) << 50};
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++) {
        struct hw_rates rates = {{0}, {0}};
        hw_rates_add(&rates, speeds[i], HW_NS_PER_S);
        assert_in_range(hw_rates_high(&rates), speeds[i] - speeds[i] / 1000, speeds[i] + speeds[i] / 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known_of_nothing),
        cmocka_unit_test(one_stretch_is_believed),
        cmocka_unit_test(slower_stretches_are_no_matter),
        cmocka_unit_test(few_that_are_too_fast_are_not_believed),
        cmocka_unit_test(any_speed_has_its_place),
    };
    return cmocka_run_group_tests_name("rates", tests, NULL, NULL);
}
