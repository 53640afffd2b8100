/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: several engines at once: each is told, in order, of what it wants to know and of nothing else.
 */
#include "engines/engine.h"

#include "real/constants.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char heard[64];

static void add(const char *what) { strncat(heard, what, sizeof heard - strlen(heard) - 1); }

static void first_posted(enum hw_request_kind kind, uint64_t bytes, bool is_receive)
{
    assert_int_equal(kind, HW_REQUEST_P2P);
    assert_int_equal(bytes, 1 << 20);
    assert_true(is_receive);
    add("p1 ");
}

static void second_posted(enum hw_request_kind kind, uint64_t bytes, bool is_receive)
{
    (void)kind, (void)bytes, (void)is_receive;
    add("p2 ");
}

static void second_returned(uint64_t blocked_ns, int still_pending)
{
    assert_int_equal(blocked_ns, 7);
    assert_int_equal(still_pending, 1);
    add("r2 ");
}

static const struct hw_engine first = {.name = "first", .posted = first_posted};
static const struct hw_engine second = {
    .name = "second", .posted = second_posted, .returned = second_returned};

static int answer;

static int first_flush(int rank, MPI_Win win)
{
    (void)rank, (void)win;
    add("f1 ");
    return answer;
}

static int second_flush(int rank, MPI_Win win)
{
    (void)rank, (void)win;
    add("f2 ");
    return MPI_SUCCESS;
}

static const struct hw_engine_epoch first_epoch = {.win_flush = first_flush};
static const struct hw_engine_epoch second_epoch = {.win_flush = second_flush};

static int forget(void **state)
{
    (void)state;
    heard[0] = '\0';
    for (int i = 0; i <= HW_ENGINES_MAX; i++)
        hw_atomic_store_release(&hw_engines_asked_epoch[i], NULL);
    for (int i = 0; i <= HW_ENGINES_MAX; i++) {
        hw_atomic_store_release(&hw_engines_told[i], NULL);
        hw_atomic_store_release(&hw_engines_told_of_doors[i], NULL);
    }
    return 0;
}

static void nobody_is_told_where_none_is_on(void **state)
{
    (void)state;
    assert_false(hw_engine_is_on());
    hw_engines_posted(HW_REQUEST_P2P, 1 << 20, true);
    hw_engines_pause(true);
    assert_false(hw_engines_want(1 << 30, HW_BYTE));
    assert_string_equal(heard, "");
}

static void all_are_told_in_order(void **state)
{
    (void)state;
    hw_atomic_store_release(&hw_engines_told[0], &first);
    hw_atomic_store_release(&hw_engines_told[1], &second);
    hw_atomic_store_release(&hw_engines_told_of_doors[0], &second);
    assert_true(hw_engine_is_on());
    hw_engines_posted(HW_REQUEST_P2P, 1 << 20, true);
    hw_engines_returned(7, 1);
    hw_engines_pause(true); /* of which neither wants to know */
    assert_string_equal(heard, "p1 p2 r2 ");
}

static void ask(int answered, int expected, const char *asked)
{
    heard[0] = '\0';
    answer = answered;
    assert_int_equal(hw_ask_win_flush(0, HW_WIN_NULL), expected);
    assert_string_equal(heard, asked);
}

static void the_next_is_asked_where_one_declines(void **state)
{
    (void)state;
    assert_false(hw_engines_is_asked_epoch());
    ask(MPI_SUCCESS, HW_DECLINES, "");
    hw_atomic_store_release(&hw_engines_asked_epoch[0], &first_epoch);
    assert_true(hw_engines_is_asked_epoch());
    ask(HW_DECLINES, HW_DECLINES, "f1 "); /* the hook makes the real call */
    hw_atomic_store_release(&hw_engines_asked_epoch[1], &second_epoch);
    ask(HW_DECLINES, MPI_SUCCESS, "f1 f2 ");
    ask(MPI_SUCCESS, MPI_SUCCESS, "f1 ");
    ask(MPI_ERR_RANK, MPI_ERR_RANK, "f1 ");
    assert_int_equal(hw_ask_win_sync(HW_WIN_NULL), HW_DECLINES); /* which neither has */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nobody_is_told_where_none_is_on, forget),
        cmocka_unit_test_setup(all_are_told_in_order, forget),
        cmocka_unit_test_setup(the_next_is_asked_where_one_declines, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
