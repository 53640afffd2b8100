/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: when the progress thread takes part: from the first window on; what is learnt without trying,
 * what probes, controls and trials may cost, and what they decide. */
#include "policy/policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { US = 1000, MS = 1000000 };

/* A program with windows of one class, and what they cost it. */
struct model {
    struct hw_policy_class class;
    struct hw_policy_ledger ledger;
    uint64_t now_ns, compute_ns;
    uint64_t on_wait_ns, on_overhead_ns, off_ns;
    bool has_wire, goes_by_itself; /* probes can be made; what they find */
    bool is_near;                  /* the partner is of the same node: nothing moves on the wire */
    bool is_for_others;
    uint64_t on_period_ns, off_period_ns;
    int on_count, off_count, probe_count; /* windows so far; a probe that was none in the end is off */
};

static struct model model_make(uint64_t on_wait_ns, uint64_t on_overhead_ns, uint64_t off_ns)
{
    return (struct model){.now_ns = 1 * MS,
                          .compute_ns = 9 * MS,
                          .on_wait_ns = on_wait_ns,
                          .on_overhead_ns = on_overhead_ns,
                          .off_ns = off_ns};
}

static void window_run(struct model *model)
{
    enum hw_policy_way way = hw_policy_begin(&model->class, &model->ledger, model->now_ns);
    bool is_natural =
        way != HW_POLICY_WAY_OFF && model->has_wire && model->goes_by_itself && way == HW_POLICY_WAY_PROBE;
    bool was_on = way != HW_POLICY_WAY_OFF && !is_natural;
    bool was_probe = way == HW_POLICY_WAY_PROBE && !is_natural;
    model->on_count += was_on && !was_probe;
    model->off_count += !was_on;
    model->probe_count += was_probe;
    uint64_t late_ns = was_probe ? hw_policy_probe_ns(&model->class) : 0;
    const struct hw_policy_window window = {
        .was_on = was_on,
        .was_probe = was_probe,
        .went_by_itself = is_natural,
        .is_for_others = model->is_for_others,
        .has_wire = model->has_wire,
        .wire_bytes = model->has_wire && !model->is_near ? 2 << 20 : 0,
        .bytes = 2 << 20,
        .opened_ns = model->now_ns,
        .blocked_ns = (was_on ? model->on_wait_ns : model->off_ns) + late_ns,
        .overhead_ns = was_on ? model->on_overhead_ns : 0,
        .duration_ns = model->compute_ns + (was_on ? model->on_wait_ns : model->off_ns),
    };
    model->now_ns += was_on ? model->on_period_ns : model->off_period_ns;
    hw_policy_end(&model->class, &model->ledger, &window);
}

static void run(struct model *model, int count)
{
    for (int i = 0; i < count; i++)
        window_run(model);
}

/* Rounds, of which one in `every` takes more_ns longer, with the thread as without. Returns how often the
 * class stood down or began again. */
static int run_rounds(struct model *model, int count, int every, uint64_t more_ns)
{
    const uint64_t on_ns = model->on_period_ns, off_ns = model->off_period_ns;
    int changes = 0;
    for (int i = 0; i < count; i++) {
        const uint64_t longer_ns = model->class.window_count % (uint32_t)every == 0 ? more_ns : 0;
        bool was_down = model->class.stands_down;
        model->on_period_ns = on_ns + longer_ns;
        model->off_period_ns = off_ns + longer_ns;
        window_run(model);
        changes += model->class.stands_down != was_down;
    }
    model->on_period_ns = on_ns;
    model->off_period_ns = off_ns;
    return changes;
}

/* `count` windows that wait at once. Returns in how many the thread took part. */
static int run_idle(struct model *model, int count, uint64_t transfer_ns)
{
    int on_count = 0;
    for (int i = 0; i < count; i++) {
        bool is_on = hw_policy_begin(&model->class, &model->ledger, model->now_ns) != HW_POLICY_WAY_OFF;
        const struct hw_policy_window window = {.was_on = is_on,
                                                .has_wire = model->has_wire,
                                                .bytes = 2 << 20,
                                                .blocked_ns = transfer_ns,
                                                .duration_ns = transfer_ns + 40 * US};
        on_count += is_on;
        hw_policy_end(&model->class, &model->ledger, &window);
    }
    return on_count;
}

/* What a program exchanges before it begins to compute tells what a window costs without the thread. */
static void gain_begins_with_the_first_window(void **state)
{
    (void)state;
    struct model model = model_make(0, 1 * MS, 8 * MS);
    run_idle(&model, 8, 8 * MS);
    assert_int_equal(hw_policy_off_cost_ns(&model.class), 8 * MS);
    run(&model, 40);
    assert_int_equal(model.on_count, 40); /* no control: none was worth its price yet */
    assert_int_equal(model.off_count, 0);
    assert_true(model.ledger.saved_ns > UINT64_C(40) * 6 * MS);
}

static void learning_costs_a_fiftieth_of_what_is_saved(void **state)
{
    (void)state;
    struct model model = model_make(0, 1 * MS, 8 * MS);
    run_idle(&model, 8, 8 * MS);
    for (int i = 0; i < 3000; i++) {
        window_run(&model);
        assert_true(model.ledger.spent_ns <= model.ledger.saved_ns / 50 + 7 * MS);
    }
    assert_in_range(model.off_count, 1, 20); /* but controls do not end */
}

/* Nothing is known: a control is the only way to know, and one is enough. */
static void nothing_known_is_tried_once(void **state)
{
    (void)state;
    struct model model = model_make(0, 1 * MS, 8 * MS);
    run(&model, 2);
    assert_int_equal(model.on_count, 2);
    run(&model, 38);
    assert_int_equal(model.off_count, 1);
    assert_int_equal(hw_policy_off_cost_ns(&model.class), 8 * MS);
}

/* Where bytes can be counted the thread comes late instead, by a part of the transfer. */
static void probes_take_the_place_of_controls(void **state)
{
    (void)state;
    struct model model = model_make(0, 1 * MS, 8 * MS);
    model.has_wire = true;
    run_idle(&model, 8, 8 * MS);
    run(&model, 200);
    assert_int_equal(model.off_count, 0);
    assert_in_range(model.probe_count, 1, 8);
    assert_in_range(hw_policy_probe_ns(&model.class), 100 * US, 1 * MS);
}

/* Messages to partners of the same node move nothing on the wire, so a probe tells nothing. What windows take
 * that wait at once is no better: they may have waited for a partner. The next look is a control, and the
 * thread that costs more than it saves stops. */
static void probes_that_tell_nothing_are_followed_by_a_control(void **state)
{
    (void)state;
    struct model model = model_make(500 * US, 400 * US, 500 * US);
    model.has_wire = model.is_near = true;
    run_idle(&model, 1, 1100 * US);
    run(&model, 40);
    assert_int_equal(model.probe_count, 1);
    assert_in_range(model.off_count, 1, 40);
    assert_true(model.class.stands_down);
}

/* Probes find that the kernel moves it all: the thread stops, though it waited for nothing. */
static void natural_transfers_stand_down(void **state)
{
    (void)state;
    struct model model = model_make(0, 400 * US, 100 * US);
    model.has_wire = model.goes_by_itself = true;
    run_idle(&model, 8, 8 * MS);
    run(&model, 16);
    assert_true(model.class.stands_down);
    int on_count = model.on_count;
    run(&model, 500);
    assert_true(model.on_count - on_count <= 24); /* trials */
}

static void windows_that_go_by_themselves_need_no_thread(void **state)
{
    (void)state;
    struct model model = model_make(0, 400 * US, 100 * US);
    for (int i = 0; i < 2; i++) {
        assert_int_not_equal(hw_policy_begin(&model.class, &model.ledger, 0), HW_POLICY_WAY_OFF);
        const struct hw_policy_window window = {
            .went_by_itself = true, .has_wire = true, .blocked_ns = 100 * US, .duration_ns = 9 * MS};
        hw_policy_end(&model.class, &model.ledger, &window);
    }
    assert_true(model.class.stands_down);
}

/* Bytes moved for as long as the program computed, which is less than the transfer takes. What it waits for
 * afterwards tells whether that was all that the transfer needed. */
static void wait_after_watching_tells(void **state)
{
    (void)state;
    struct hw_policy_window window = {
        .went_by_itself = true, .has_wire = true, .blocked_ns = 19 * MS, .duration_ns = 25 * MS};
    struct model model = model_make(2 * MS, 400 * US, 19 * MS);
    model.has_wire = true;
    run_idle(&model, 8, 8 * MS);
    assert_int_not_equal(hw_policy_watch_ns(&model.class), 0);
    for (int i = 0; i < 2; i++) {
        hw_policy_begin(&model.class, &model.ledger, 0);
        hw_policy_end(&model.class, &model.ledger, &window);
        assert_false(model.class.stands_down);
        assert_int_equal(hw_policy_watch_ns(&model.class), 0);
    }
    run(&model, 64);
    assert_false(model.class.stands_down);
    assert_int_not_equal(hw_policy_watch_ns(&model.class), 0); /* in another phase it may be otherwise */
    window.blocked_ns = 3 * MS;
    window.duration_ns = 9 * MS;
    for (int i = 0; i < 2; i++) {
        hw_policy_begin(&model.class, &model.ledger, 0);
        hw_policy_end(&model.class, &model.ledger, &window);
    }
    assert_true(model.class.stands_down);
}

/* The program computes for longer than the kernel takes to move it all: the probe ends with nothing left. */
static void transfers_that_are_over_before_the_thread_comes_need_none(void **state)
{
    (void)state;
    struct hw_policy_window window = {.was_on = true,
                                      .was_probe = true,
                                      .has_wire = true,
                                      .bytes = 1 << 20,
                                      .natural_bytes = 2 << 20,
                                      .wire_bytes = 2 << 20,
                                      .blocked_ns = 300 * US,
                                      .duration_ns = 33 * MS};
    struct model model = model_make(0, 400 * US, 100 * US);
    for (int i = 0; i < 2; i++) {
        hw_policy_begin(&model.class, &model.ledger, 0);
        hw_policy_end(&model.class, &model.ledger, &window);
    }
    assert_true(model.class.stands_down);
    /* As much moves once the thread has come: it is needed. */
    window.wire_bytes = 4 << 20;
    model = model_make(0, 400 * US, 100 * US);
    for (int i = 0; i < 8; i++) {
        hw_policy_begin(&model.class, &model.ledger, 0);
        hw_policy_end(&model.class, &model.ledger, &window);
    }
    assert_false(model.class.stands_down);
}

/* A trial that becomes a probe, in which the thread turns out to be needed, is a trial. */
static void need_of_the_thread_is_seen_in_probes(void **state)
{
    (void)state;
    struct model model = model_make(0, 0, 8 * MS);
    struct hw_policy_window window = {
        .went_by_itself = true, .has_wire = true, .blocked_ns = 100 * US, .duration_ns = 9 * MS};
    for (int i = 0; i < 2; i++) {
        hw_policy_begin(&model.class, &model.ledger, 0);
        hw_policy_end(&model.class, &model.ledger, &window);
    }
    assert_true(model.class.stands_down);
    for (int i = 0; i < 40; i++) {
        bool is_on = hw_policy_begin(&model.class, &model.ledger, 0) != HW_POLICY_WAY_OFF;
        window = (struct hw_policy_window){.was_on = is_on,
                                           .was_probe = is_on,
                                           .has_wire = true,
                                           .bytes = 2 << 20,
                                           .blocked_ns = is_on ? 1 * MS : 8 * MS,
                                           .duration_ns = 18 * MS};
        hw_policy_end(&model.class, &model.ledger, &window);
    }
    assert_false(model.class.stands_down);
}

/* What the thread takes itself is harm beyond doubt. */
static void dear_thread_is_stopped_within_two_windows(void **state)
{
    (void)state;
    struct model model = model_make(50 * US, 450 * US, 100 * US);
    run_idle(&model, 3, 100 * US);
    run(&model, 2);
    assert_int_equal(model.on_count, 2);
    run(&model, 5);
    assert_int_equal(model.on_count, 2);
    assert_true(model.class.stands_down);
}

/* Directions that wait for one another, a partner that comes late: two such windows stop nobody, since who
 * stops is no help to the partner. */
static void long_windows_alone_stop_nobody_soon(void **state)
{
    (void)state;
    struct model model = model_make(12 * MS, 1 * MS, 8 * MS);
    run_idle(&model, 8, 8 * MS);
    run(&model, 4);
    assert_int_equal(model.off_count, 1); /* a doubt that one control ends */
    assert_false(model.class.stands_down);
    model.on_wait_ns = 0;
    run(&model, 100);
    assert_false(model.class.stands_down);
}

static void lasting_harm_stops_it(void **state)
{
    (void)state;
    struct model model = model_make(12 * MS, 1 * MS, 8 * MS);
    run_idle(&model, 8, 8 * MS);
    run(&model, 20);
    assert_true(model.class.stands_down);
}

/* A partner that is late costs as much in both ways, and is no reason to stop. */
static void late_partner_stops_nobody(void **state)
{
    (void)state;
    struct model model = model_make(12 * MS, 1 * MS, 20 * MS);
    run_idle(&model, 8, 8 * MS);
    for (int i = 0; i < 300; i++) {
        window_run(&model);
        assert_false(model.class.stands_down);
    }
}

static void decision_is_revised(void **state)
{
    (void)state;
    struct model model = model_make(50 * US, 450 * US, 100 * US);
    run_idle(&model, 4, 100 * US);
    run(&model, 20);
    assert_true(model.class.stands_down);
    /* The program enters a phase in which it pays: seen at once. */
    model.off_ns = 8 * MS;
    int off_count = model.off_count;
    run(&model, 10);
    assert_false(model.class.stands_down);
    assert_in_range(model.off_count - off_count, 1, 6);
    model.off_ns = 100 * US;
    run(&model, 400);
    assert_true(model.class.stands_down);
}

static void trials_coincide(void **state)
{
    (void)state;
    struct model one = model_make(50 * US, 450 * US, 100 * US), other = one;
    run_idle(&one, 4, 100 * US);
    run_idle(&other, 4, 100 * US);
    run(&one, 9);
    other.on_overhead_ns = 0; /* stands down later */
    run(&other, 9);
    other.on_overhead_ns = 450 * US;
    uint32_t common_count = 0;
    run(&one, 100);
    run(&other, 100);
    assert_true(one.class.stands_down && other.class.stands_down);
    for (int i = 0; i < 3000; i++) {
        int one_on = one.on_count, other_on = other.on_count;
        window_run(&one);
        window_run(&other);
        common_count += one.on_count > one_on && other.on_count > other_on;
    }
    assert_true(common_count >= 2);
}

static void equal_cost_keeps_it_on(void **state)
{
    (void)state;
    struct model model = model_make(7 * MS, 1200 * US, 8 * MS);
    for (int i = 0; i < 500; i++) {
        window_run(&model);
        assert_false(model.class.stands_down);
    }
}

/* Waiting at once costs nothing to be told of, and computing may begin at any window. */
static void thread_is_ready_while_windows_wait_at_once(void **state)
{
    (void)state;
    struct model model = model_make(0, 1 * MS, 8 * MS);
    assert_int_equal(run_idle(&model, 50, 8 * MS), 50);
    run(&model, 1);
    assert_int_equal(model.on_count, 1);
    /* Short ones would pay for it. */
    struct model small = model_make(0, 1 * MS, 8 * MS);
    assert_int_equal(run_idle(&small, 1000, 200 * US), HW_POLICY_IDLE_RUN);
}

/* MPI_Irecv, MPI_Send, MPI_Wait: the time between post and wait is that of the send. */
static void blocking_calls_are_not_computation(void **state)
{
    (void)state;
    struct model model = model_make(0, 0, 0);
    for (int i = 0; i < 20; i++) {
        hw_policy_begin(&model.class, &model.ledger, 0);
        const struct hw_policy_window window = {
            .blocked_ns = 1 * MS, .elsewhere_ns = 8 * MS, .duration_ns = 9 * MS};
        hw_policy_end(&model.class, &model.ledger, &window);
    }
    assert_int_equal(model.class.window_count, 0);
}

/* A post that moves the data itself, on a fast link: nobody computes meanwhile. */
static void posting_is_not_computation(void **state)
{
    (void)state;
    struct model model = model_make(0, 0, 0);
    for (int i = 0; i < 20; i++) {
        hw_policy_begin(&model.class, &model.ledger, 0);
        const struct hw_policy_window window = {
            .blocked_ns = 1 * MS, .posting_ns = 8 * MS, .duration_ns = 9 * MS};
        hw_policy_end(&model.class, &model.ledger, &window);
    }
    assert_int_equal(model.class.window_count, 0);
}

/* The sender itself only loses: what its receiver gains shows in how soon it sends again. */
static void early_sends_help_the_receiver(void **state)
{
    (void)state;
    struct model model = model_make(5 * US, 250 * US, 90 * US);
    model.is_for_others = true;
    model.on_period_ns = 5 * MS;
    model.off_period_ns = 8 * MS;
    for (int i = 0; i < 200; i++) {
        window_run(&model);
        assert_false(model.class.stands_down);
    }
    assert_true(model.off_count >= 3);
}

static void early_sends_that_help_nobody_are_not_worth_it(void **state)
{
    (void)state;
    struct model model = model_make(5 * US, 250 * US, 90 * US);
    model.is_for_others = true;
    model.on_period_ns = 2700 * US;
    model.off_period_ns = 2600 * US;
    run(&model, 16);
    assert_true(model.class.stands_down);
    /* A receiver that waits for them comes. */
    model.on_period_ns = 5 * MS;
    model.off_period_ns = 8 * MS;
    run(&model, 1500);
    assert_false(model.class.stands_down);
}

/* Each sends, computes, and then receives in a call that blocks: early data only stand in the way. */
static void early_sends_that_cost_rounds_are_seldom(void **state)
{
    (void)state;
    struct model model = model_make(16 * MS, 1 * MS, 8 * MS);
    model.is_for_others = true;
    model.on_period_ns = 25 * MS;
    model.off_period_ns = 17 * MS;
    run(&model, 12);
    assert_true(model.class.stands_down);
    assert_in_range(model.on_count, 1, 5);
    int before = model.on_count;
    run(&model, 1000);
    assert_in_range(model.on_count - before, 1, 12);
    /* The partner begins to wait for them early. */
    model.on_period_ns = 17 * MS;
    model.off_period_ns = 25 * MS;
    model.off_ns = 16 * MS;
    model.on_wait_ns = 8 * MS;
    run(&model, 1500);
    assert_false(model.class.stands_down);
}

/* Though each process waits less itself. The way does not change to and fro. */
static void longer_rounds_count_more_than_short_waits(void **state)
{
    (void)state;
    struct model model = model_make(250 * US, 50 * US, 500 * US);
    model.is_for_others = true;
    model.on_period_ns = 10800 * US;
    model.off_period_ns = 10 * MS;
    int changes = run_rounds(&model, 1000, 1, 0);
    assert_true(model.class.stands_down);
    assert_in_range(changes, 1, 20);
}

/* Every k-th round does something else, too; where the thread makes all shorter it goes on. */
static void rounds_that_differ_do_not_stop_it(void **state)
{
    (void)state;
    for (int every = 5; every <= 16; every++) {
        struct model model = model_make(300 * US, 50 * US, 500 * US);
        model.is_for_others = true;
        model.on_period_ns = 9800 * US;
        model.off_period_ns = 10 * MS;
        assert_in_range(run_rounds(&model, 1000, every, 6 * MS), 0, 4);
        assert_true(model.on_count > 800);
    }
}

/* Trials begin at the numbers at which such a program has its long rounds. */
static void long_rounds_do_not_lose_all_trials(void **state)
{
    (void)state;
    for (int every = 16; every <= 128; every *= 2) {
        struct model model = model_make(16 * MS, 1 * MS, 8 * MS);
        model.is_for_others = true;
        model.on_period_ns = 25 * MS;
        model.off_period_ns = 17 * MS;
        run(&model, 300);
        assert_true(model.class.stands_down);
        model.on_wait_ns = 8 * MS;
        model.on_period_ns = 8 * MS;
        model.off_period_ns = 10 * MS;
        run_rounds(&model, 2700, every, 4 * MS);
        assert_false(model.class.stands_down);
    }
}

static void long_windows_are_not_used_to_learn(void **state)
{
    (void)state;
    struct model model = model_make(1 * MS, 0, 8 * MS);
    model.compute_ns = UINT64_C(200) * MS;
    run(&model, 50);
    assert_int_equal(model.on_count, 50);
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
        cmocka_unit_test(gain_begins_with_the_first_window),
        cmocka_unit_test(learning_costs_a_fiftieth_of_what_is_saved),
        cmocka_unit_test(nothing_known_is_tried_once),
        cmocka_unit_test(probes_take_the_place_of_controls),
        cmocka_unit_test(probes_that_tell_nothing_are_followed_by_a_control),
        cmocka_unit_test(natural_transfers_stand_down),
        cmocka_unit_test(wait_after_watching_tells),
        cmocka_unit_test(transfers_that_are_over_before_the_thread_comes_need_none),
        cmocka_unit_test(need_of_the_thread_is_seen_in_probes),
        cmocka_unit_test(windows_that_go_by_themselves_need_no_thread),
        cmocka_unit_test(dear_thread_is_stopped_within_two_windows),
        cmocka_unit_test(long_windows_alone_stop_nobody_soon),
        cmocka_unit_test(lasting_harm_stops_it),
        cmocka_unit_test(late_partner_stops_nobody),
        cmocka_unit_test(decision_is_revised),
        cmocka_unit_test(trials_coincide),
        cmocka_unit_test(equal_cost_keeps_it_on),
        cmocka_unit_test(thread_is_ready_while_windows_wait_at_once),
        cmocka_unit_test(blocking_calls_are_not_computation),
        cmocka_unit_test(posting_is_not_computation),
        cmocka_unit_test(early_sends_help_the_receiver),
        cmocka_unit_test(early_sends_that_help_nobody_are_not_worth_it),
        cmocka_unit_test(early_sends_that_cost_rounds_are_seldom),
        cmocka_unit_test(longer_rounds_count_more_than_short_waits),
        cmocka_unit_test(rounds_that_differ_do_not_stop_it),
        cmocka_unit_test(long_rounds_do_not_lose_all_trials),
        cmocka_unit_test(long_windows_are_not_used_to_learn),
        cmocka_unit_test(length_of_a_series_is_learnt),
        cmocka_unit_test(one_other_series_ends_the_trust),
    };
    return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
