/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: in which windows the thread holds back until the sends are posted. */
#include "policy/hold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SIZE = 1 << 20, MANY = 100, SENT_NS = 4000000 };

static struct hw_policy_hold hold;
static bool is_in_turns;

static int forget(void **state)
{
    (void)state;
    hold = (struct hw_policy_hold){0};
    is_in_turns = false;
    return 0;
}

/* A window that receives and sends so much, by halves. Returns how often the thread was held after a post. */
static int window(uint64_t received, uint64_t sent)
{
    int held = hw_policy_is_held(&hold, received, 0) + hw_policy_is_held(&hold, received, sent / 2);
    bool was_held = hw_policy_is_held(&hold, received, sent);
    hw_policy_hold_learn(&hold, &(struct hw_policy_held){.received_bytes = received,
                                                         .sends_bytes = sent,
                                                         .sent_ns = was_held ? 0 : SENT_NS,
                                                         .was_held = held > 0,
                                                         .was_in_vain = was_held});
    return held + was_held;
}

static void exchanges_are_held_until_all_is_sent(void **state)
{
    (void)state;
    assert_int_equal(window(SIZE, SIZE), 1);
    for (int i = 0; i < 4; i++)
        assert_int_equal(window(SIZE, SIZE), 2);
}

static void who_receives_alone_is_held_once(void **state)
{
    (void)state;
    assert_int_equal(window(SIZE, 0), 3);
    for (int i = 0; i < 4; i++)
        assert_int_equal(window(SIZE, 0), 0);
}

static void who_sends_alone_is_not_held(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(window(0, SIZE), 0);
}

static void who_sends_little_is_held_no_more(void **state)
{
    (void)state;
    assert_int_equal(window(SIZE, SIZE / 8), 1);
    assert_int_equal(window(SIZE, SIZE / 8), 0);
}

/* Sizes that change from window to window: mostly the least of them is waited for. One that is held in vain
 * is followed by many that are not. */
static void sizes_that_change_cost_few_windows(void **state)
{
    (void)state;
    int vain = 0;
    for (int i = 0; i < MANY; i++) {
        uint64_t size = SIZE + (uint64_t)(i * 7 % 5) * SIZE / 2;
        bool was_known = hold.windows > 0, will_rest = hold.rest == 0;
        window(size, size);
        vain += was_known && will_rest && hold.rest > 0;
    }
    assert_in_range(vain, 0, 2);
}

/* One window is not held, now and then. What has come before the sends then is what the thread is for. */
static void what_comes_early_ends_it(void **state)
{
    (void)state;
    int held = 0;
    for (int i = 0; i < 72; i++)
        held += window(SIZE, SIZE) > 0;
    assert_int_equal(held, 71);
    const struct hw_policy_held early = {.received_bytes = SIZE, .sends_bytes = SIZE, .came_early = true};
    assert_false(hw_policy_is_held(&hold, SIZE, 0));
    hw_policy_hold_learn(&hold, &early);
    assert_false(hw_policy_is_held(&hold, SIZE, 0)); /* once may be chance: the next one tells */
    hw_policy_hold_learn(&hold, &early);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(hw_policy_is_held(&hold, SIZE, 0), false);
}

/* One that finds nothing is followed by the next ever later. */
static void trials_in_vain_are_few(void **state)
{
    (void)state;
    int not_held = 0;
    for (int i = 0; i < 1000; i++)
        not_held += window(SIZE, SIZE) == 0;
    assert_int_equal(not_held, 3);
}

/* A window whose sends follow one another for so long, in a class that takes TRANSFER_NS. Returns how often
 * the thread was held: before the first send, and after half of them. */
static int spread_window(uint64_t spread_ns, uint64_t transfer_ns)
{
    int held = hw_policy_is_held(&hold, SIZE, 0) + hw_policy_is_held(&hold, SIZE, SIZE / 2);
    struct hw_policy_held ended = {.received_bytes = SIZE,
                                   .sends_bytes = SIZE,
                                   .transfer_ns = transfer_ns,
                                   .is_in_turns = is_in_turns,
                                   .was_held = held > 0};
    hw_policy_hold_note_send(&hold, &ended, SIZE / 2, SENT_NS);
    hw_policy_hold_note_send(&hold, &ended, SIZE, SENT_NS + spread_ns);
    hw_policy_hold_learn(&hold, &ended);
    return held;
}

/* Where the sends follow soon, nothing that comes before them is worth a transfer that may take twice as
 * long. */
static void brief_computations_have_no_trials(void **state)
{
    (void)state;
    for (int i = 0; i < MANY; i++)
        assert_int_not_equal(spread_window(0, 8 * SENT_NS), 0);
    hold = (struct hw_policy_hold){0};
    int held = 0;
    for (int i = 0; i < 10; i++)
        held += spread_window(0, 2 * SENT_NS) > 0;
    assert_int_equal(held, 9);
}

/* As long as usual, twice; never less than what a new class has, which is longer for much data. */
static void holding_has_an_end(void **state)
{
    (void)state;
    assert_true(hw_policy_hold_most_ns(&hold, SIZE) == HW_POLICY_HOLD_NS);
    assert_in_range(hw_policy_hold_most_ns(&hold, 16 * SIZE), 16000000, 64000000);
    window(SIZE, SIZE);
    assert_true(hw_policy_hold_most_ns(&hold, 16 * SIZE) == 2 * SENT_NS);
}

/* Few windows are enough to know it, either way. */
static void spread_sends_are_waited_for_until_the_first(void **state)
{
    (void)state;
    enum { TRANSFER_NS = 9000000 };
    for (int i = 0; i < 8; i++)
        assert_int_equal(spread_window(TRANSFER_NS / 8, TRANSFER_NS), i == 0 ? 1 : 2);
    hold = (struct hw_policy_hold){0};
    for (int i = 0; i < 5; i++)
        assert_int_equal(spread_window(TRANSFER_NS / 2, TRANSFER_NS), i == 1 ? 2 : 1);
    for (int i = 0; i < 2; i++)
        spread_window(0, TRANSFER_NS);
    assert_int_equal(spread_window(0, TRANSFER_NS), 2);
    hold = (struct hw_policy_hold){0};
    for (int i = 0; i < 6; i++)
        assert_int_equal(spread_window(TRANSFER_NS / 2, 0), i == 0 ? 1 : 2);
    is_in_turns = true;
    hold = (struct hw_policy_hold){0};
    for (int i = 0; i < 6; i++)
        assert_int_equal(spread_window(TRANSFER_NS / 2, TRANSFER_NS), i == 0 ? 1 : 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(exchanges_are_held_until_all_is_sent, forget),
        cmocka_unit_test_setup(who_receives_alone_is_held_once, forget),
        cmocka_unit_test_setup(who_sends_alone_is_not_held, forget),
        cmocka_unit_test_setup(who_sends_little_is_held_no_more, forget),
        cmocka_unit_test_setup(what_comes_early_ends_it, forget),
        cmocka_unit_test_setup(trials_in_vain_are_few, forget),
        cmocka_unit_test_setup(brief_computations_have_no_trials, forget),
        cmocka_unit_test_setup(holding_has_an_end, forget),
        cmocka_unit_test_setup(sizes_that_change_cost_few_windows, forget),
        cmocka_unit_test_setup(spread_sends_are_waited_for_until_the_first, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
