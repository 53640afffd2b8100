/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: services of ghosts: whose tags a command has, a fair turn for each, who keeps the ghost awake.
 */
#include "ghost/service.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char turns[32];
static int turn_count;
static int obeyed_tag, obeyed_origin;
static bool has_done, is_busy;

static bool poll_of(char name)
{
    if (turn_count < (int)sizeof turns - 1)
        turns[turn_count++] = name;
    return false;
}

static bool poll_a(void) { return poll_of('a'); }

static bool poll_b(void)
{
    poll_of('b');
    return has_done;
}

static bool poll_c(void) { return poll_of('c'); }

static bool has_work(void) { return is_busy; }

static void obey(const struct hw_ghost_command *command, int origin)
{
    obeyed_tag = command->tag;
    obeyed_origin = origin;
}

static const struct hw_ghost_service one = {.name = "a", .tags = {32, 4}, .obey = obey, .poll = poll_a};
static const struct hw_ghost_service two = {.name = "b", .poll = poll_b, .has_work = has_work};
static const struct hw_ghost_service three = {.name = "c", .tags = {36, 2}, .obey = obey, .poll = poll_c};

static void test_tags(void **state)
{
    (void)state;
    const struct hw_ghost_service overlapping = {.name = "x", .tags = {35, 1}, .obey = obey},
                                  deaf = {.name = "x", .tags = {64, 1}},
                                  of_loop = {.name = "x", .tags = {HW_GHOST_TAG_FINISH, 1}, .obey = obey},
                                  of_grants = {.name = "x", .tags = {1000, 25}, .obey = obey};
    assert_null(hw_ghost_service_at(0));
    assert_int_equal(hw_ghost_service_add(&one), HW_OK);
    assert_int_equal(hw_ghost_service_add(&two), HW_OK);
    assert_int_equal(hw_ghost_service_add(&three), HW_OK);
    assert_int_equal(hw_ghost_service_add(&overlapping), HW_BAD_INPUT);
    assert_int_equal(hw_ghost_service_add(&deaf), HW_BAD_INPUT);
    assert_int_equal(hw_ghost_service_add(&of_loop), HW_BAD_INPUT);
    assert_int_equal(hw_ghost_service_add(&of_grants), HW_BAD_INPUT);
    assert_ptr_equal(hw_ghost_service_at(2), &three);
    assert_null(hw_ghost_service_at(3));
}

static void test_commands(void **state)
{
    (void)state;
    struct hw_ghost_command command = {.tag = 37};
    assert_true(hw_ghost_services_obey(&command, 5));
    assert_int_equal(obeyed_tag, 37);
    assert_int_equal(obeyed_origin, 5);
    command.tag = 38;
    assert_false(hw_ghost_services_obey(&command, 5));
    command.tag = 31;
    assert_false(hw_ghost_services_obey(&command, 5));
    assert_int_equal(obeyed_tag, 37);
}

/* Each has one turn in a round, and each is the first as often as the others. */
static void test_turns(void **state)
{
    (void)state;
    for (int round = 0; round < 6; round++)
        assert_false(hw_ghost_services_poll());
    assert_string_equal(turns, "abcbcacababcbcacab");
    has_done = true;
    assert_true(hw_ghost_services_poll());
    assert_int_equal(turn_count, 21); /* one that did something takes no turn from the others */
}

static void test_work(void **state)
{
    (void)state;
    assert_false(hw_ghost_services_have_work());
    is_busy = true;
    assert_true(hw_ghost_services_have_work());
}

/* Eight at most. */
static void test_too_many(void **state)
{
    (void)state;
    static const struct hw_ghost_service more = {.name = "d"};
    for (int i = 3; i < 8; i++)
        assert_int_equal(hw_ghost_service_add(&more), HW_OK);
    assert_int_equal(hw_ghost_service_add(&more), HW_NOMEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tags), cmocka_unit_test(test_commands), cmocka_unit_test(test_turns),
        cmocka_unit_test(test_work), cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
