/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: engines are told of a window of the MPI's own as long as it lives, wherever it is freed, and
 * not of one that a callback of the program's made. */
#include "engines/engine.h"
#include "hooks.h"
#include "mpi/window.h"
#include "real/constants.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 40 };

static int exposures, made;
static bool is_refused;

static void count(int change) { exposures += change; }

static const struct hw_engine counting = {.name = "counting", .exposed = count};

static int fake_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    (void)info, (void)comm;
    memset(win, ++made, sizeof *win);
    return MPI_SUCCESS;
}

static int fake_free(MPI_Win *win)
{
    if (is_refused)
        return MPI_ERR_OTHER;
    *win = HW_WIN_NULL;
    return MPI_SUCCESS;
}

static int open_engines(void **state)
{
    (void)state;
    hw_real.Win_create_dynamic = hw_bottom.Win_create_dynamic = fake_create_dynamic;
    hw_real.Win_free = hw_bottom.Win_free = fake_free;
    hw_atomic_store_release(&hw_engines_told[0], &counting);
    return 0;
}

static int close_engines(void **state)
{
    (void)state;
    hw_atomic_store_release(&hw_engines_told[0], NULL);
    return 0;
}

static MPI_Win make(void)
{
    MPI_Win win;
    assert_int_equal(hw_win_create_dynamic(HW_INFO_NULL, HW_COMM_NULL, &win), MPI_SUCCESS);
    return win;
}

static void made_outside_freed_anywhere(void **state)
{
    (void)state;
    MPI_Win windows[MANY];
    for (int i = 0; i < MANY; i++)
        windows[i] = make();
    assert_int_equal(exposures, MANY);
    for (int i = 0; i < MANY; i += 2)
        assert_true(hw_win_freed_within(&windows[i]) && windows[i] == HW_WIN_NULL);
    assert_int_equal(exposures, MANY / 2);
    for (int i = 1; i < MANY; i += 2)
        assert_int_equal(hw_win_free(&windows[i]), MPI_SUCCESS);
    assert_int_equal(exposures, 0);
}

static void made_within_is_nobodys(void **state)
{
    (void)state;
    MPI_Win own = make(), other;
    hw_bottom.Win_create_dynamic(HW_INFO_NULL, HW_COMM_NULL, &other);
    assert_false(hw_win_freed_within(&other)); /* the MPI is to free it */
    assert_int_equal(hw_win_free(&other), MPI_SUCCESS);
    assert_int_equal(exposures, 1);
    assert_int_equal(hw_win_free(&own), MPI_SUCCESS);
    assert_int_equal(exposures, 0);
}

static void what_the_mpi_refuses_lives(void **state)
{
    (void)state;
    MPI_Win win = make();
    is_refused = true;
    assert_int_equal(hw_win_free(&win), MPI_ERR_OTHER);
    assert_false(hw_win_freed_within(&win));
    assert_false(hw_win_freed_within(NULL));
    assert_int_equal(exposures, 1);
    is_refused = false;
    assert_true(hw_win_freed_within(&win));
    assert_int_equal(exposures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_outside_freed_anywhere),
        cmocka_unit_test(made_within_is_nobodys),
        cmocka_unit_test(what_the_mpi_refuses_lives),
    };
    return cmocka_run_group_tests(tests, open_engines, close_engines);
}
