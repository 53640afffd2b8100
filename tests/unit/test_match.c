/* SPDX-License-Identifier: BSD-3-Clause */
/* Matching in the helper: order, wildcards, sends before their receives, receives that are over. */
#include "engines/helper/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COMM = 77 };

struct fixture {
    struct hw_registry registry;
    struct hw_helper_match match;
};

static uint64_t sent; /* sends with a lower number are over */

static bool is_over(const struct hw_registry_notice *notice) { return notice->number < sent; }

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    *state = fixture;
    sent = 0;
    if (fixture == NULL)
        return -1;
    hw_helper_match_begin(&fixture->match, &fixture->registry, is_over);
    return 0;
}

static int tear_down(void **state)
{
    free(*state);
    return 0;
}

static struct hw_registry_notice send_of(int source, int tag, uint64_t bytes)
{
    return (struct hw_registry_notice){
        .comm = COMM, .source = source, .tag = tag, .bytes = bytes, .kind = HW_REGISTRY_SEND};
}

static bool sends(struct fixture *fixture, int source, int tag)
{
    struct hw_registry_notice notice = send_of(source, tag, 1);
    return hw_helper_match_send(&fixture->match, &notice);
}

static bool posts(struct fixture *fixture, int source, int tag)
{
    return hw_registry_post(&fixture->registry, COMM, source, tag, 1);
}

static void one_receive_matches_one_send(void **state)
{
    posts(*state, 3, 5);
    assert_false(sends(*state, 3, 6));
    assert_false(sends(*state, 2, 5));
    assert_true(sends(*state, 3, 5));
    assert_false(sends(*state, 3, 5));
}

static void another_communicator_does_not_match(void **state)
{
    struct fixture *fixture = *state;
    struct hw_registry_notice notice = send_of(3, 5, 1);
    notice.comm = COMM + 1;
    posts(fixture, 3, 5);
    assert_false(hw_helper_match_send(&fixture->match, &notice));
}

static void wildcards_match(void **state)
{
    posts(*state, HW_REGISTRY_ANY, 5);
    posts(*state, 4, HW_REGISTRY_ANY);
    posts(*state, HW_REGISTRY_ANY, HW_REGISTRY_ANY);
    assert_true(sends(*state, 9, 5));
    assert_true(sends(*state, 4, 123));
    assert_true(sends(*state, 1, 1));
    assert_false(sends(*state, 1, 1));
}

static void early_sends_wait_for_their_receives(void **state)
{
    struct fixture *fixture = *state;
    struct hw_registry_notice notice = send_of(1, 1, 10);
    assert_false(posts(fixture, 8, 8)); /* nobody waits for it */
    assert_false(hw_helper_match_send(&fixture->match, &notice));
    notice.bytes = 20;
    assert_false(hw_helper_match_send(&fixture->match, &notice));
    assert_false(hw_helper_match_next(&fixture->match, &notice));
    assert_true(posts(fixture, 2, 2)); /* the helper is to look */
    assert_false(hw_helper_match_next(&fixture->match, &notice));
    assert_true(posts(fixture, HW_REGISTRY_ANY, 1));
    assert_true(hw_helper_match_next(&fixture->match, &notice));
    assert_int_equal(notice.bytes, 10);
    assert_false(hw_helper_match_next(&fixture->match, &notice));
    assert_true(posts(fixture, 1, 1));
    assert_true(hw_helper_match_next(&fixture->match, &notice));
    assert_int_equal(notice.bytes, 20);
    assert_false(posts(fixture, 1, 1)); /* nobody waits any more */
}

static void receives_that_are_over_do_not_match(void **state)
{
    struct fixture *fixture = *state;
    posts(fixture, 1, 1);
    hw_registry_end_messages(&fixture->registry);
    posts(fixture, 1, 2);
    assert_false(sends(fixture, 1, 1));
    assert_true(sends(fixture, 1, 2));
}

static void sends_that_are_over_leave_their_receives(void **state)
{
    struct fixture *fixture = *state;
    struct hw_registry_notice notice = send_of(1, 1, 10);
    assert_false(hw_helper_match_send(&fixture->match, &notice));
    sent = 1;
    assert_true(posts(fixture, 1, 1));
    assert_false(hw_helper_match_next(&fixture->match, &notice));
    assert_false(posts(fixture, 2, 2)); /* nobody waits any more */
    assert_false(hw_helper_match_send(&fixture->match, &notice));
    notice.number = 1;
    assert_true(hw_helper_match_send(&fixture->match, &notice));
}

/* Between nodes only the next send says that those before it are over. */
static void a_late_notice_costs_no_later_one(void **state)
{
    struct fixture *fixture = *state;
    struct hw_registry_notice notice = send_of(1, 1, 10);
    posts(fixture, 1, 1);
    hw_registry_end_messages(&fixture->registry);
    assert_false(hw_helper_match_send(&fixture->match, &notice)); /* after its message */
    notice.number = 1;
    notice.over = 1;
    posts(fixture, 1, 1);
    struct hw_registry_notice early;
    assert_true(hw_helper_match_next(&fixture->match, &early)); /* of the late one, in vain */
    assert_int_equal(early.number, 0);
    assert_true(hw_helper_match_send(&fixture->match, &notice));
    notice.number = 2; /* a second one of the same time needs a receive of its own */
    assert_false(hw_helper_match_send(&fixture->match, &notice));
    assert_true(posts(fixture, 1, 1));
    assert_true(hw_helper_match_next(&fixture->match, &early));
    assert_int_equal(early.number, 2);
}

static void a_later_notice_tells_what_is_over(void **state)
{
    struct fixture *fixture = *state;
    struct hw_registry_notice notice = send_of(1, 1, 10), other = send_of(1, 1, 10);
    other.from = 7;
    assert_false(hw_helper_match_send(&fixture->match, &other));
    assert_false(hw_helper_match_send(&fixture->match, &notice));
    notice.number = 1;
    notice.over = 1;
    assert_false(hw_helper_match_send(&fixture->match, &notice));
    assert_true(posts(fixture, 1, 1));
    assert_true(posts(fixture, 1, 1));
    struct hw_registry_notice early;
    assert_true(hw_helper_match_next(&fixture->match, &early));
    assert_int_equal(early.from, 7); /* says nothing of itself */
    assert_true(hw_helper_match_next(&fixture->match, &early));
    assert_int_equal(early.number, 1);
}

static void a_receive_is_claimed_once(void **state)
{
    struct fixture *fixture = *state;
    struct hw_registry_notice notice = send_of(1, 1, 10);
    uint64_t first = 0, receive = 99;
    posts(fixture, 1, 1);
    assert_true(hw_registry_claim(&fixture->registry, &first, &notice, &receive));
    assert_int_equal(receive, 0);
    assert_false(hw_registry_claim(&fixture->registry, &first, &notice, &receive));
    assert_false(sends(fixture, 1, 1));
}

static void the_table_goes_round(void **state)
{
    struct fixture *fixture = *state;
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < HW_REGISTRY_RECEIVES - 7; i++)
            posts(fixture, i, round);
        for (int i = HW_REGISTRY_RECEIVES - 8; i >= 0; i--)
            assert_true(sends(fixture, i, round));
        assert_false(fixture->match.early_count > 0);
    }
}

static void the_oldest_are_overwritten(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < HW_REGISTRY_RECEIVES + 10; i++)
        posts(fixture, i, 1);
    assert_false(sends(fixture, 3, 1));
    assert_true(sends(fixture, 10, 1));
    assert_true(sends(fixture, HW_REGISTRY_RECEIVES + 9, 1));
}

static void too_many_early_sends_count_as_matched(void **state)
{
    for (int i = 0; i < HW_HELPER_EARLY_MAX; i++)
        assert_false(sends(*state, i, 1));
    assert_true(sends(*state, 0, 2));
}

static void a_full_ring_refuses(void **state)
{
    struct fixture *fixture = *state;
    struct hw_registry_notice notice = send_of(0, 0, 0), taken;
    for (int i = 0; i < HW_REGISTRY_NOTICES; i++, notice.bytes++)
        assert_true(hw_registry_notice(&fixture->registry, &notice));
    assert_false(hw_registry_notice(&fixture->registry, &notice));
    for (uint64_t i = 0; i < HW_REGISTRY_NOTICES; i++) {
        assert_true(hw_registry_take(&fixture->registry, &taken));
        assert_int_equal(taken.bytes, i);
    }
    assert_false(hw_registry_take(&fixture->registry, &taken));
    assert_true(hw_registry_notice(&fixture->registry, &notice));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_receive_matches_one_send),
        TEST(another_communicator_does_not_match),
        TEST(wildcards_match),
        TEST(early_sends_wait_for_their_receives),
        TEST(receives_that_are_over_do_not_match),
        TEST(sends_that_are_over_leave_their_receives),
        TEST(a_late_notice_costs_no_later_one),
        TEST(a_later_notice_tells_what_is_over),
        TEST(a_receive_is_claimed_once),
        TEST(the_table_goes_round),
        TEST(the_oldest_are_overwritten),
        TEST(too_many_early_sends_count_as_matched),
        TEST(a_full_ring_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
