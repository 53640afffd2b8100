/* Description: when the progress thread takes part: the sequence of controls, the decision, its revision; and
 * the pacing of polls. */
#include "engines/thread/policy.h"
#include "progress/pacing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { US = 1000, MS = 1000000 };

/* A window that lost all its cost in completion. */
static bool end(struct hw_policy_class *class, bool was_on, uint64_t cost_ns, uint64_t duration_ns)
{
    const struct hw_policy_window window = {
        .was_on = was_on, .blocked_ns = cost_ns, .duration_ns = duration_ns};
    return hw_policy_end(class, &window);
}

/* Runs `count` windows whose cost depends only on whether the thread took part. Returns how many it took part
 * in. */
static int run(struct hw_policy_class *class, int count, uint64_t on_ns, uint64_t off_ns,
               uint64_t duration_ns)
{
    int on_count = 0;
    for (int i = 0; i < count; i++) {
        bool is_on = hw_policy_begin(class, 0);
        on_count += is_on;
        end(class, is_on, is_on ? on_ns : off_ns, duration_ns);
    }
    return on_count;
}

static void first_windows_are_on(void **state)
{
    (void)state;
    struct hw_policy_class class = {0};
    assert_int_equal(run(&class, 3, 1 * MS, 8 * MS, 9 * MS), 3);
    assert_false(hw_policy_begin(&class, 0)); /* the first control */
}

static void gain_keeps_it_on(void **state)
{
    (void)state;
    struct hw_policy_class class = {0};
    run(&class, 12, 1 * MS, 8 * MS, 9 * MS);
    assert_false(class.stands_down);
    int on_count = run(&class, 1000, 1 * MS, 8 * MS, 9 * MS);
    assert_true(on_count >= 985); /* controls grow rare */
    assert_true(on_count < 1000); /* but do not end */
}

static void controls_tell_what_is_gained(void **state)
{
    (void)state;
    struct hw_policy_class class = {0};
    run(&class, 3, 1 * MS, 8 * MS, 9 * MS);
    assert_int_equal(hw_policy_off_cost_ns(&class), 0); /* nothing to compare with yet */
    run(&class, 9, 1 * MS, 8 * MS, 9 * MS);
    assert_int_equal(hw_policy_off_cost_ns(&class), 8 * MS);
}

static void no_gain_stands_down(void **state)
{
    (void)state;
    struct hw_policy_class class = {0};
    run(&class, 12, 20 * US, 3 * US, 9 * MS);
    assert_true(class.stands_down);
    int on_count = run(&class, 1000, 20 * US, 3 * US, 9 * MS);
    assert_true(on_count <= 24);
    assert_true(on_count > 0);
}

/* What can be seen at the first control is not tried for longer. */
static void plain_loss_is_learnt_at_once(void **state)
{
    (void)state;
    struct hw_policy_class class = {0};
    assert_int_equal(run(&class, 5, 450 * US, 100 * US, 3 * MS), 3);
    assert_true(class.stands_down);
    assert_int_equal(run(&class, 31, 450 * US, 100 * US, 3 * MS), 0);
    assert_int_equal(run(&class, 31, 450 * US, 100 * US, 3 * MS), 2); /* the next control is cut, too */
}

/* A loss that a window contradicts takes more windows to believe, and a control its whole length. */
static void doubtful_loss_takes_longer(void **state)
{
    (void)state;
    struct hw_policy_class class = {0};
    int on_count = 0;
    for (int i = 0; i < 50; i++) {
        bool is_on = hw_policy_begin(&class, 0);
        on_count += is_on;
        bool is_good = i == 2 || i == 36;
        end(&class, is_on, is_on && !is_good ? 450 * US : 100 * US, 3 * MS);
        assert_int_equal(class.stands_down, i >= 7);
    }
    assert_int_equal(on_count, 3 + 3 + 4);
}

/* One of the first two controls was disturbed, as when the partner came late: the other one counts. */
static void one_disturbed_control_decides_nothing(void **state)
{
    (void)state;
    for (int disturbed = 3; disturbed <= 4; disturbed++) {
        struct hw_policy_class class = {0};
        for (int i = 0; i < 8; i++) {
            bool is_on = hw_policy_begin(&class, 0);
            end(&class, is_on, is_on ? 430 * US : i == disturbed ? 1260 * US : 90 * US, 4 * MS);
        }
        assert_true(class.stands_down);
    }
}

/* Stood down at the first control, and wrongly: not held until the next. */
static void early_decision_is_revised_without_a_control(void **state)
{
    (void)state;
    struct hw_policy_class class = {0};
    run(&class, 5, 450 * US, 100 * US, 3 * MS);
    assert_true(class.stands_down);
    run(&class, 10, 450 * US, 900 * US, 3 * MS);
    assert_false(class.stands_down);
}

static void decision_is_revised(void **state)
{
    (void)state;
    struct hw_policy_class class = {0};
    run(&class, 12, 20 * US, 3 * US, 9 * MS);
    assert_true(class.stands_down);
    /* The program enters a phase in which it would pay. */
    run(&class, 1500, 1 * MS, 8 * MS, 9 * MS);
    assert_false(class.stands_down);
    run(&class, 6000, 20 * US, 3 * US, 9 * MS);
    assert_true(class.stands_down);
}

/* A partner that tries its own controls at other times spoils some windows: that must decide nothing. */
static void spoilt_windows_decide_nothing(void **state)
{
    (void)state;
    struct hw_policy_class class = {0};
    for (int i = 0; i < 200; i++) {
        bool is_on = hw_policy_begin(&class, 0);
        bool is_spoilt = i == 1 || i == 2 || i == 40 || i == 41;
        end(&class, is_on, is_on && !is_spoilt ? 1 * MS : 8 * MS, 17 * MS);
        assert_false(class.stands_down);
    }
}

/* `count` windows of sends alone, one after the other every on_period_ns or off_period_ns. */
static void send(struct hw_policy_class *class, int count, uint64_t *now_ns, uint64_t on_period_ns,
                 uint64_t off_period_ns)
{
    for (int i = 0; i < count; i++) {
        bool is_on = hw_policy_begin(class, *now_ns);
        const struct hw_policy_window window = {.was_on = is_on,
                                                .is_for_others = true,
                                                .opened_ns = *now_ns,
                                                .blocked_ns = is_on ? 5 * US : 90 * US,
                                                .overhead_ns = is_on ? 250 * US : 0,
                                                .duration_ns = 2500 * US};
        hw_policy_end(class, &window);
        *now_ns += is_on ? on_period_ns : off_period_ns;
    }
}

/* The sender itself only loses: what its receiver gains shows in how soon it sends again. */
static void early_sends_help_the_receiver(void **state)
{
    (void)state;
    struct hw_policy_class class = {0};
    uint64_t now_ns = 1 * MS;
    for (int i = 0; i < 200; i++) {
        send(&class, 1, &now_ns, 5 * MS, 8 * MS);
        assert_false(class.stands_down);
    }
}

static void early_sends_that_help_nobody_are_not_worth_it(void **state)
{
    (void)state;
    struct hw_policy_class class = {0};
    uint64_t now_ns = 1 * MS;
    send(&class, 12, &now_ns, 2700 * US, 2600 * US);
    assert_true(class.stands_down);
    send(&class, 500, &now_ns, 2700 * US, 2600 * US);
    assert_true(class.stands_down);
    /* A receiver that waits for them comes. */
    send(&class, 1500, &now_ns, 5 * MS, 8 * MS);
    assert_false(class.stands_down);
}

/* Rounds differ for reasons of their own; by chance some with the thread are short. */
static void chance_is_no_help(void **state)
{
    (void)state;
    struct hw_policy_class class = {0};
    uint64_t now_ns = 1 * MS;
    uint32_t seed = 1;
    int on_count = 0;
    for (int i = 0; i < 4000; i++) {
        uint32_t window_count = class.window_count;
        seed = seed * 1664525 + 1013904223;
        uint64_t period_ns = 4 * MS + (uint64_t)(seed >> 12) * 4; /* up to twice as long */
        send(&class, 1, &now_ns, period_ns, period_ns);
        on_count += !class.stands_down && class.window_count > window_count;
    }
    assert_in_range(on_count, 0, 4000 / 20);
}

/* With a receive among them the wait is this process's own, and the cost tells all. */
static void periods_count_for_sends_alone(void **state)
{
    (void)state;
    struct hw_policy_class class = {0};
    uint64_t now_ns = 1 * MS;
    for (int i = 0; i < 12; i++) {
        bool is_on = hw_policy_begin(&class, now_ns);
        const struct hw_policy_window window = {.was_on = is_on,
                                                .opened_ns = now_ns,
                                                .blocked_ns = 90 * US,
                                                .overhead_ns = is_on ? 250 * US : 0,
                                                .duration_ns = 2500 * US};
        hw_policy_end(&class, &window);
        now_ns += is_on ? 5 * MS : 8 * MS;
    }
    assert_true(class.stands_down);
}

static void equal_cost_keeps_it_on(void **state)
{
    (void)state;
    struct hw_policy_class class = {0};
    for (int i = 0; i < 500; i++) {
        bool is_on = hw_policy_begin(&class, 0);
        end(&class, is_on, (is_on ? 8200 : 8000) * US + (i % 7) * 50 * US, 17 * MS);
        assert_false(class.stands_down);
    }
}

static void one_odd_window_decides_nothing(void **state)
{
    (void)state;
    struct hw_policy_class class = {0};
    run(&class, 12, 1 * MS, 8 * MS, 9 * MS);
    bool is_on = hw_policy_begin(&class, 0);
    assert_true(is_on);
    assert_false(end(&class, true, 50 * MS, 60 * MS));
    assert_false(class.stands_down);
}

static void waiting_at_once_needs_no_thread(void **state)
{
    (void)state;
    struct hw_policy_class class = {0};
    assert_int_equal(run(&class, 1000, 9 * MS, 9 * MS, 9 * MS), HW_POLICY_IDLE_RUN);
    /* Computing begins: one window is missed, and the decision starts from nothing. */
    assert_int_equal(run(&class, 1, 1 * MS, 8 * MS, 17 * MS), 0);
    assert_int_equal(run(&class, 2, 1 * MS, 8 * MS, 9 * MS), 2);
    run(&class, 12, 1 * MS, 8 * MS, 17 * MS);
    assert_false(class.stands_down);
}

/* MPI_Irecv, MPI_Send, MPI_Wait: the time between post and wait is that of the send. */
static void blocking_calls_are_not_computation(void **state)
{
    (void)state;
    struct hw_policy_class class = {0};
    int on_count = 0;
    for (int i = 0; i < 1000; i++) {
        const struct hw_policy_window window = {.was_on = hw_policy_begin(&class, 0),
                                                .blocked_ns = 1 * MS,
                                                .elsewhere_ns = 8 * MS,
                                                .duration_ns = 9 * MS};
        on_count += window.was_on;
        hw_policy_end(&class, &window);
    }
    assert_int_equal(on_count, HW_POLICY_IDLE_RUN);
}

/* MPI_Allreduce before MPI_Waitall: what the thread saves is saved there, and it does cost CPU time. */
static void gain_in_other_calls_keeps_it_on(void **state)
{
    (void)state;
    struct hw_policy_class class = {0};
    for (int i = 0; i < 100; i++) {
        bool is_on = hw_policy_begin(&class, 0);
        const struct hw_policy_window window = {.was_on = is_on,
                                                .blocked_ns = 10 * US,
                                                .elsewhere_ns = is_on ? 400 * US : 5 * MS,
                                                .overhead_ns = is_on ? 900 * US : 0,
                                                .duration_ns = is_on ? 10 * MS : 14 * MS};
        hw_policy_end(&class, &window);
        assert_false(class.stands_down);
    }
    assert_int_equal(hw_policy_off_cost_ns(&class), 5 * MS + 10 * US);
}

static void long_windows_are_not_used_to_learn(void **state)
{
    (void)state;
    struct hw_policy_class class = {0};
    assert_int_equal(run(&class, 50, 1 * MS, 8 * MS, UINT64_C(200) * MS), 50);
}

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

static void length_of_a_series_is_learnt(void **state)
{
    (void)state;
    struct hw_policy_class class = {0};
    for (int i = 0; i <= HW_POLICY_SURE_RUN; i++) {
        assert_int_equal(hw_policy_series_post(&class, 1), HW_POLICY_POST_TELL);
        assert_int_equal(hw_policy_series_post(&class, 2), HW_POLICY_POST_TELL);
        hw_policy_series_end(&class, 2);
    }
    assert_int_equal(hw_policy_series_post(&class, 1), HW_POLICY_POST_MORE);
    assert_int_equal(hw_policy_series_post(&class, 2), HW_POLICY_POST_COMPLETE);
    assert_int_equal(hw_policy_series_post(&class, 3), HW_POLICY_POST_TELL);
}

/* A window with fewer posts than expected was not progressed: that must not happen twice in a row. */
static void one_other_series_ends_the_trust(void **state)
{
    (void)state;
    struct hw_policy_class class = {0};
    for (int i = 0; i < 100; i++)
        hw_policy_series_end(&class, 4);
    assert_int_equal(hw_policy_series_post(&class, 1), HW_POLICY_POST_MORE);
    hw_policy_series_end(&class, 1);
    for (int i = 0; i < HW_POLICY_SURE_RUN; i++) {
        assert_int_equal(hw_policy_series_post(&class, 1), HW_POLICY_POST_TELL);
        hw_policy_series_end(&class, i % 2 ? 1 : 4);
    }
    assert_int_equal(hw_policy_series_post(&class, 1), HW_POLICY_POST_TELL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_windows_are_on),
        cmocka_unit_test(length_of_a_series_is_learnt),
        cmocka_unit_test(one_other_series_ends_the_trust),
        cmocka_unit_test(gain_keeps_it_on),
        cmocka_unit_test(controls_tell_what_is_gained),
        cmocka_unit_test(no_gain_stands_down),
        cmocka_unit_test(plain_loss_is_learnt_at_once),
        cmocka_unit_test(doubtful_loss_takes_longer),
        cmocka_unit_test(one_disturbed_control_decides_nothing),
        cmocka_unit_test(early_decision_is_revised_without_a_control),
        cmocka_unit_test(decision_is_revised),
        cmocka_unit_test(spoilt_windows_decide_nothing),
        cmocka_unit_test(early_sends_help_the_receiver),
        cmocka_unit_test(early_sends_that_help_nobody_are_not_worth_it),
        cmocka_unit_test(chance_is_no_help),
        cmocka_unit_test(periods_count_for_sends_alone),
        cmocka_unit_test(equal_cost_keeps_it_on),
        cmocka_unit_test(one_odd_window_decides_nothing),
        cmocka_unit_test(waiting_at_once_needs_no_thread),
        cmocka_unit_test(blocking_calls_are_not_computation),
        cmocka_unit_test(gain_in_other_calls_keeps_it_on),
        cmocka_unit_test(long_windows_are_not_used_to_learn),
        cmocka_unit_test(pacing_lets_a_burst_through),
        cmocka_unit_test(pacing_holds_the_long_run_rate),
    };
    return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
