/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a class of receives (or sends) whose process sends (receives) as much when it has computed,
 * and then waits, stands down; one that computes beside its own transfer, or sends less, does not. */
#include "policy/policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MS = 1000000, MIB = 1 << 20 };

/* A program that receives, computes for EARLY_NS, sends (as much, and while it still receives, or not),
 * computes for LATE_NS, and waits. */
struct program {
    struct hw_policy_class class;
    struct hw_policy_ledger ledger;
    uint64_t now_ns, early_ns, late_ns;
    bool is_half_late, is_half_unseen;
    uint64_t on_wait_ns, off_wait_ns;
    int on_count;
};

static struct program program_make(bool is_half_late, uint64_t early_ns, uint64_t late_ns)
{
    return (struct program){.now_ns = MS,
                            .is_half_late = is_half_late,
                            .early_ns = early_ns,
                            .late_ns = late_ns,
                            .on_wait_ns = 17 * MS,
                            .off_wait_ns = 9 * MS};
}

static void window_run(struct program *program)
{
    enum hw_policy_way way = hw_policy_begin(&program->class, &program->ledger, program->now_ns);
    bool was_on = way != HW_POLICY_WAY_OFF;
    uint64_t wait_ns = was_on ? program->on_wait_ns : program->off_wait_ns;
    const struct hw_policy_window window = {
        .was_on = was_on,
        .bytes = MIB,
        .is_half_late = program->is_half_late,
        .is_half_unseen = program->is_half_unseen && was_on,
        .early_free_ns = program->early_ns,
        .opened_ns = program->now_ns,
        .elsewhere_ns = wait_ns,
        .duration_ns = program->early_ns + program->late_ns + wait_ns,
    };
    program->on_count += was_on;
    program->now_ns += window.duration_ns;
    hw_policy_end(&program->class, &program->ledger, &window);
}

static void run(struct program *program, int count)
{
    for (int i = 0; i < count; i++)
        window_run(program);
}

static void first_late_send_stops_it(void **state)
{
    (void)state;
    struct program program = program_make(true, 9 * MS, 0);
    run(&program, 30);
    assert_true(program.class.stands_down);
    assert_int_equal(program.on_count, 1);
    run(&program, 970);
    assert_in_range(program.on_count, 2, 16);
}

/* Windows that wait at once are not counted, nor is the one after them. */
static void so_does_the_first_after_others_that_wait_at_once(void **state)
{
    (void)state;
    struct program program = program_make(true, 0, 0);
    run(&program, 8);
    program.early_ns = 9 * MS;
    program.on_count = 0;
    run(&program, 30);
    assert_in_range(program.on_count, 0, 1);
}

static void computation_after_the_send_is_worth_it(void **state)
{
    (void)state;
    struct program program = program_make(true, 3 * MS, 6 * MS);
    program.on_wait_ns = MS;
    run(&program, 100);
    assert_false(program.class.stands_down);
}

static void one_that_sends_little_or_has_received_gains(void **state)
{
    (void)state;
    struct program program = program_make(false, 9 * MS, 0);
    program.on_wait_ns = MS;
    run(&program, 100);
    assert_false(program.class.stands_down);
}

static void another_phase_starts_it_again(void **state)
{
    (void)state;
    struct program program = program_make(true, 9 * MS, 0);
    run(&program, 20);
    assert_true(program.class.stands_down);
    program.is_half_late = false;
    program.on_wait_ns = MS;
    run(&program, 4);
    assert_false(program.class.stands_down);
}

/* A process that is kept from its core between its send and its wait seems to compute there. */
static void single_windows_of_another_kind_change_nothing(void **state)
{
    (void)state;
    struct program program = program_make(true, 9 * MS, 0);
    run(&program, 8);
    for (int i = 0; i < 20; i++) {
        program.late_ns = 4 * MS;
        run(&program, 1);
        program.late_ns = 0;
        run(&program, 3);
    }
    assert_in_range(program.on_count, 1, 4); /* a trial among them */
}

/* Windows of both kinds in turns, from calls with messages of one size. */
static void both_kinds_in_turns_keep_it_on(void **state)
{
    (void)state;
    struct program program = program_make(true, 9 * MS, 0);
    program.on_wait_ns = MS;
    for (int i = 0; i < 40; i++) {
        program.is_half_late = i % 2 == 0;
        run(&program, 1);
    }
    assert_false(program.class.stands_down);
    assert_in_range(program.on_count, 36, 40);
}

/* Three and three: no more than a few changes, and the rest as costs say. */
static void mixtures_are_left_to_costs(void **state)
{
    (void)state;
    struct program program = program_make(true, 9 * MS, 0);
    for (int i = 0; i < 300; i++) {
        program.is_half_late = i % 6 < 3;
        program.on_wait_ns = program.is_half_late ? 17 * MS : MS;
        run(&program, 1);
    }
    assert_in_range(program.class.late.times, 1, 3);
    assert_false(program.class.late.is_so);
}

/* The thread does not watch every window of sends, nor is there a thread to watch where it stands down. */
static void windows_that_nobody_saw_tell_nothing(void **state)
{
    (void)state;
    struct program program = program_make(false, 9 * MS, 0);
    program.on_wait_ns = MS;
    program.is_half_unseen = true;
    run(&program, 100);
    assert_false(program.class.stands_down);
    assert_int_equal(program.class.late.times, 0);
    program = program_make(true, 9 * MS, 0);
    run(&program, 4);
    assert_true(program.class.late.is_so);
    program.is_half_unseen = true;
    run(&program, 100);
    assert_true(program.class.late.is_so);
    assert_int_equal(program.class.late.times, 1);
}

/* It had been stopped by its costs before. */
static void the_end_of_late_sends_revives_nobody(void **state)
{
    (void)state;
    struct program program = program_make(false, 9 * MS, 0);
    run(&program, 100);
    assert_true(program.class.stands_down);
    int before = program.on_count;
    for (int i = 0; i < 10; i++) {
        program.is_half_late = i % 2 == 0;
        run(&program, 6);
    }
    assert_true(program.class.stands_down);
    assert_in_range(program.on_count - before, 0, 8);
}

static void what_helps_others_is_found_by_trials(void **state)
{
    (void)state;
    struct program program = program_make(true, 9 * MS, 0);
    program.on_wait_ns = 2 * MS;
    run(&program, 400);
    assert_false(program.class.stands_down);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_late_send_stops_it),
        cmocka_unit_test(so_does_the_first_after_others_that_wait_at_once),
        cmocka_unit_test(computation_after_the_send_is_worth_it),
        cmocka_unit_test(one_that_sends_little_or_has_received_gains),
        cmocka_unit_test(another_phase_starts_it_again),
        cmocka_unit_test(single_windows_of_another_kind_change_nothing),
        cmocka_unit_test(both_kinds_in_turns_keep_it_on),
        cmocka_unit_test(mixtures_are_left_to_costs),
        cmocka_unit_test(windows_that_nobody_saw_tell_nothing),
        cmocka_unit_test(the_end_of_late_sends_revives_nobody),
        cmocka_unit_test(what_helps_others_is_found_by_trials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
