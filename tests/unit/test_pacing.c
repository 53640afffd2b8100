/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the pacing of polls lets a burst through, and holds its rate in the long run. */
#include "progress/pacing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { US = 1000, MS = 1000000 };

static void pacing_lets_a_burst_through(void **state)
{
    (void)state;
    struct hw_pacing pacing = {0};
    hw_pacing_set(&pacing, 500 * US, 3);
    uint64_t now_ns = UINT64_C(1000) * MS;
    for (int i = 0; i < 4; i++)
        assert_int_equal(hw_pacing_take(&pacing, now_ns), 0);
    assert_int_equal(hw_pacing_take(&pacing, now_ns), 500 * US);
    assert_int_equal(hw_pacing_take(&pacing, now_ns + 500 * US), 500 * US);
    /* After a quiet time the next handshake is answered at once again. */
    assert_int_equal(hw_pacing_take(&pacing, now_ns + 50 * MS), 0);
}

static void pacing_holds_the_long_run_rate(void **state)
{
    (void)state;
    struct hw_pacing pacing = {0};
    hw_pacing_set(&pacing, 500 * US, 3);
    uint64_t begin_ns = UINT64_C(1000) * MS, now_ns = begin_ns;
    for (int i = 0; i < 100; i++)
        now_ns += hw_pacing_take(&pacing, now_ns) + 10 * US;
    assert_in_range(now_ns - begin_ns, 96 * 500 * US, 100 * 510 * US);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pacing_lets_a_burst_through),
        cmocka_unit_test(pacing_holds_the_long_run_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
