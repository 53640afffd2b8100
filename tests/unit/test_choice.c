/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the shorter of two ways is found, whichever it is and becomes, and looking costs little. */
#include "policy/choice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static unsigned seed = 1;

/* Mostly `ns`; now and then somebody else has the core. */
static uint64_t noisy(uint64_t ns)
{
    seed = seed * 1103515245U + 12345U;
    unsigned drawn = seed >> 16 & 255;
    return ns + ns * drawn / 4096 + (drawn == 7 ? 50 * ns : 0);
}

struct total {
    uint64_t calls, by[HW_CHOICE_WAYS], took_ns;
};

static void call(struct hw_choice *choice, struct total *total, uint64_t calls, uint64_t mpi_ns,
                 uint64_t ours_ns)
{
    static uint32_t left;
    left = choice->looks ? left : 0;
    for (uint64_t i = 0; i < calls; i++) {
        bool is_timed = left == 0;
        enum hw_choice_way way = is_timed ? hw_choice_next(choice) : choice->way;
        uint64_t ns = way == HW_CHOICE_MPI ? mpi_ns : ours_ns;
        total->by[way]++;
        total->took_ns += ns;
        if (is_timed)
            left = hw_choice_learn(choice, way, noisy(ns));
        else
            left--;
    }
    total->calls += calls;
}

static void the_shorter_way_is_taken(void **state)
{
    (void)state;
    static const uint64_t pairs[][2] = {{100, 10}, {100, 80},   {100, 98},    {100, 100},
                                        {90, 100}, {100, 5000}, {100000, 50}, {50, 100000}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct hw_choice choice = {0};
        struct total total = {0};
        uint64_t mpi_ns = pairs[i][0], ours_ns = pairs[i][1], best = mpi_ns < ours_ns ? mpi_ns : ours_ns;
        call(&choice, &total, 200000, mpi_ns, ours_ns);
        assert_true(choice.is_settled);
        if (ours_ns * 100 < mpi_ns * 85 || mpi_ns <= ours_ns)
            assert_int_equal(choice.way, ours_ns < mpi_ns ? HW_CHOICE_OURS : HW_CHOICE_MPI);
        assert_true(total.took_ns <= total.calls * best * 106 / 100 + 12 * (mpi_ns + ours_ns));
        /* Where ours does not pay, the program notices nothing. */
        if (choice.way == HW_CHOICE_MPI)
            assert_true(total.took_ns <= total.calls * mpi_ns * 101 / 100 + 12 * (mpi_ns + ours_ns));
    }
}

static void a_change_is_noticed(void **state)
{
    (void)state;
    struct hw_choice choice = {0};
    struct total before = {0}, after = {0};
    call(&choice, &before, 2000, 100, 50);
    assert_int_equal(choice.way, HW_CHOICE_OURS);
    call(&choice, &after, 1000000, 100, 400);
    assert_int_equal(choice.way, HW_CHOICE_MPI);
    assert_true(after.by[HW_CHOICE_MPI] > after.calls / 2);
}

static void what_is_won_is_known(void **state)
{
    (void)state;
    struct hw_choice choice = {0};
    assert_int_equal(hw_choice_won_ns(&choice), 0);
    hw_choice_learn(&choice, HW_CHOICE_MPI, 9000); /* the first of each do not count */
    hw_choice_learn(&choice, HW_CHOICE_OURS, 20);
    hw_choice_learn(&choice, HW_CHOICE_MPI, 100);
    assert_int_equal(hw_choice_won_ns(&choice), 0);
    hw_choice_learn(&choice, HW_CHOICE_OURS, 30);
    assert_int_equal(hw_choice_won_ns(&choice), 70);
    assert_int_equal(hw_choice_next(&choice), HW_CHOICE_MPI);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shorter_way_is_taken),
        cmocka_unit_test(a_change_is_noticed),
        cmocka_unit_test(what_is_won_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
