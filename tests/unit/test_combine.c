/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: numbers of a reduction, combined in any order, give the same bytes. */
#include "engines/coll/ghost/combine.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 4 };

static void integers_wrap_round(void **state)
{
    (void)state;
    const struct hw_real_reduction product = {HW_OP_PROD, HW_CLASS_UNSIGNED, sizeof(uint16_t), false};
    uint16_t into[COUNT] = {65535, 3, 0, 256}, expected[COUNT] = {1, 6, 0, 0};
    const uint16_t from[COUNT] = {65535, 2, 9, 256};
    hw_coll_combine(&product, into, from, sizeof into);
    assert_memory_equal(into, expected, sizeof into);
}

static void logic_gives_one_or_none(void **state)
{
    (void)state;
    const struct hw_real_reduction both = {HW_OP_LAND, HW_CLASS_SIGNED, sizeof(int32_t), false};
    const struct hw_real_reduction odd = {HW_OP_LXOR, HW_CLASS_SIGNED, sizeof(int32_t), false};
    int32_t into[COUNT] = {-7, 0, 4, 0}, also[COUNT] = {-7, 0, 4, 0};
    const int32_t from[COUNT] = {2, 5, 0, 0}, ands[COUNT] = {1, 0, 0, 0}, xors[COUNT] = {0, 1, 1, 0};
    hw_coll_combine(&both, into, from, sizeof into);
    hw_coll_combine(&odd, also, from, sizeof also);
    assert_memory_equal(into, ands, sizeof into);
    assert_memory_equal(also, xors, sizeof also);
}

static void order_heeds_the_sign(void **state)
{
    (void)state;
    const int64_t from[1] = {-1};
    for (int is_signed = 0; is_signed < 2; is_signed++) {
        const struct hw_real_reduction least = {HW_OP_MIN, is_signed ? HW_CLASS_SIGNED : HW_CLASS_UNSIGNED,
                                                sizeof(int64_t), false};
        int64_t into[1] = {1};
        hw_coll_combine(&least, into, from, sizeof into);
        assert_int_equal(into[0], is_signed ? -1 : 1);
    }
}

/* Each pair in both orders: zeros of both signs, and what is no number. */
static void floating_point_has_one_order(void **state)
{
    (void)state;
    const double numbers[] = {-0.0, 0.0, -2.5, 3.0, NAN, INFINITY, -INFINITY};
    enum { NUMBERS = sizeof numbers / sizeof numbers[0] };
    for (int i = 0; i < NUMBERS * NUMBERS; i++)
        for (int is_most = 0; is_most < 2; is_most++) {
            const struct hw_real_reduction extreme = {is_most ? HW_OP_MAX : HW_OP_MIN, HW_CLASS_FLOATING,
                                                      sizeof(double), false};
            double one = numbers[i / NUMBERS], other = numbers[i % NUMBERS], first = one, second = other;
            hw_coll_combine(&extreme, &first, &other, sizeof first);
            hw_coll_combine(&extreme, &second, &one, sizeof second);
            assert_memory_equal(&first, &second, sizeof first);
            assert_true(isnan(first) == (isnan(one) || isnan(other)));
            if (!isnan(first))
                assert_true(is_most ? first >= one && first >= other : first <= one && first <= other);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_wrap_round),
        cmocka_unit_test(logic_gives_one_or_none),
        cmocka_unit_test(order_heeds_the_sign),
        cmocka_unit_test(floating_point_has_one_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
