/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: messages whose sender waits at once are left alone, for longer and longer, until one is not.
 */
#include "engines/p2p/user/worth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* How many messages are left alone from now on. */
static uint32_t term(struct hw_p2p_worth *worth)
{
    uint32_t count = 0;
    while (!hw_p2p_worth_ask(worth))
        count++;
    return count;
}

static void computes(void **state)
{
    (void)state;
    struct hw_p2p_worth worth = {0};
    for (int i = 0; i < 1000; i++) {
        assert_true(hw_p2p_worth_ask(&worth));
        hw_p2p_worth_learn(&worth, 1000, i % 2 ? 0 : 750);
    }
}

static void waits_at_once(void **state)
{
    (void)state;
    struct hw_p2p_worth worth = {0};
    for (int i = 0; i < HW_P2P_WORTH_LOSSES; i++) {
        assert_true(hw_p2p_worth_ask(&worth));
        hw_p2p_worth_learn(&worth, 1000, 990);
    }
    uint32_t wanted = HW_P2P_WORTH_TERM;
    for (int i = 0; i < 12; i++) {
        assert_int_equal(term(&worth), wanted);
        hw_p2p_worth_learn(&worth, 1000, 1000);
        wanted = wanted < HW_P2P_WORTH_TERM_MAX ? 2 * wanted : HW_P2P_WORTH_TERM_MAX;
    }
}

static void changes(void **state)
{
    (void)state;
    struct hw_p2p_worth worth = {0};
    for (int i = 0; i < HW_P2P_WORTH_LOSSES; i++)
        hw_p2p_worth_learn(&worth, 1000, 990);
    assert_int_equal(term(&worth), HW_P2P_WORTH_TERM);
    hw_p2p_worth_learn(&worth, 1000, 100);
    assert_int_equal(term(&worth), 0);
    for (int i = 0; i < HW_P2P_WORTH_LOSSES - 1; i++)
        hw_p2p_worth_learn(&worth, 1000, 990);
    assert_int_equal(term(&worth), 0);
    hw_p2p_worth_learn(&worth, 1000, 990);
    assert_int_equal(term(&worth), HW_P2P_WORTH_TERM);
}

/* Those under way when the class is left alone end later. */
static void ends_late(void **state)
{
    (void)state;
    struct hw_p2p_worth worth = {0};
    for (int i = 0; i < HW_P2P_WORTH_LOSSES; i++)
        hw_p2p_worth_learn(&worth, 1000, 990);
    hw_p2p_worth_learn(&worth, 1000, 0);
    assert_int_equal(term(&worth), HW_P2P_WORTH_TERM);
}

static void classes(void **state)
{
    (void)state;
    assert_int_equal(hw_p2p_worth_class(0), 0);
    assert_int_equal(hw_p2p_worth_class(65535), 16);
    assert_int_equal(hw_p2p_worth_class(65536), 17);
    assert_int_equal(hw_p2p_worth_class(UINT64_MAX), HW_P2P_WORTH_CLASSES - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computes),  cmocka_unit_test(waits_at_once), cmocka_unit_test(changes),
        cmocka_unit_test(ends_late), cmocka_unit_test(classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
