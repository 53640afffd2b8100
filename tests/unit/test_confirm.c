/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a way that a trial preferred is kept unless it is the longer in earnest. */
#include "policy/confirm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { CALLS_MAX = 64 };

/* Each call takes that, and waits for others as long as `wait_ns` says. */
static enum hw_confirm_state run(uint64_t mpi_ns, uint64_t ours_ns, uint64_t (*wait_ns)(unsigned call),
                                 unsigned by[HW_CHOICE_WAYS])
{
    struct hw_confirm confirm = {0};
    enum hw_confirm_state state = HW_CONFIRM_ON;
    by[HW_CHOICE_MPI] = by[HW_CHOICE_OURS] = 0;
    for (unsigned call = 0; state == HW_CONFIRM_ON; call++) {
        assert_true(call < CALLS_MAX);
        enum hw_choice_way way = hw_confirm_next(&confirm);
        by[way]++;
        state = hw_confirm_learn(&confirm, way, (way == HW_CHOICE_MPI ? mpi_ns : ours_ns) + wait_ns(call));
    }
    return state;
}

static uint64_t none(unsigned call)
{
    (void)call;
    return 0;
}

/* Cold caches at first, and a partner that is late now and then, by far more than is won or lost. */
static uint64_t some(unsigned call) { return call < 2 ? 100000 : call % 5 == 0 ? 50000 : 0; }

static uint64_t always(unsigned call)
{
    (void)call;
    return 1000000;
}

static void it_is_kept_unless_longer(void **state)
{
    (void)state;
    static uint64_t (*const waits[])(unsigned) = {none, some};
    unsigned by[HW_CHOICE_WAYS];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run(1000, 500, waits[i], by), HW_CONFIRM_KEEP);
        assert_int_equal(by[HW_CHOICE_MPI], by[HW_CHOICE_OURS]);
        assert_int_equal(run(1000, 1000, waits[i], by), HW_CONFIRM_KEEP);
        assert_int_equal(run(1000, 1100, waits[i], by), HW_CONFIRM_LEAVE);
        assert_int_equal(run(1000, 5000, waits[i], by), HW_CONFIRM_LEAVE);
    }
}

static void what_waiting_hides_does_not_count(void **state)
{
    (void)state;
    unsigned by[HW_CHOICE_WAYS];
    assert_int_equal(run(1000, 1100, always, by), HW_CONFIRM_KEEP);
}

static void no_time_is_some_time(void **state)
{
    (void)state;
    unsigned by[HW_CHOICE_WAYS];
    assert_int_equal(run(0, 0, none, by), HW_CONFIRM_KEEP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_kept_unless_longer),
        cmocka_unit_test(what_waiting_hides_does_not_count),
        cmocka_unit_test(no_time_is_some_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
