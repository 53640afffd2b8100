/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: which polls are taken for pieces of a message within the node, on machines of several speeds.
 */
#include "engines/thread/burst.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MANY = 100000 };

/* Polls of took_ns each until the burst ends, MANY at most. */
static int burst(uint64_t took_ns)
{
    int polls = 1;
    while (polls < MANY && hw_burst_goes_on(polls, took_ns))
        polls++;
    return polls;
}

static void a_piece_is_longer_than_nothing_on_a_slow_machine(void **state)
{
    (void)state;
    assert_false(hw_burst_goes_on(1, 700));
    assert_true(hw_burst_goes_on(1, 1900));
}

static void a_piece_is_longer_than_nothing_on_a_fast_machine(void **state)
{
    (void)state;
    assert_false(hw_burst_goes_on(1, 200));
    assert_true(hw_burst_goes_on(1, 800));
    assert_false(hw_burst_goes_on(1, 250));
}

static void bursts_end_where_polls_never_become_short(void **state)
{
    (void)state;
    assert_in_range(burst(5000), 2, MANY - 1);
}

static void a_poll_that_was_short_by_chance_does_not_make_all_others_long(void **state)
{
    (void)state;
    assert_false(hw_burst_goes_on(1, 10));
    burst(400);
    assert_false(hw_burst_goes_on(1, 400));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_piece_is_longer_than_nothing_on_a_slow_machine),
        cmocka_unit_test(a_piece_is_longer_than_nothing_on_a_fast_machine),
        cmocka_unit_test(bursts_end_where_polls_never_become_short),
        cmocka_unit_test(a_poll_that_was_short_by_chance_does_not_make_all_others_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
