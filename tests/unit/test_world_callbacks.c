/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: with ghosts, what MPI is given for a keyval's functions and state serves the next keyval of
 * the same once the program has freed the first, and no other. */
#include "mpi/world_callbacks.h"
#include "real/keyval.h"
#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { FIRST_KEYVAL = 40 };

static int created, freed;
static bool is_refused;
static void *given; /* the state of the last keyval, as MPI knows it */

static int fake_create(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *erase, int *keyval,
                       void *extra)
{
    (void)copy, (void)erase;
    given = extra;
    *keyval = FIRST_KEYVAL + created++;
    return MPI_SUCCESS;
}

static int fake_free(int *keyval)
{
    if (is_refused)
        return MPI_ERR_OTHER;
    *keyval = MPI_KEYVAL_INVALID;
    freed++;
    return MPI_SUCCESS;
}

static int copy(MPI_Comm comm, int keyval, void *extra, void *value, void *copied, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)value, (void)copied;
    *flag = 0;
    return MPI_SUCCESS;
}

static int erase(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    return MPI_SUCCESS;
}

static int open_world(void **state)
{
    (void)state;
    hw_world.ghost_count = 1;
    return 0;
}

/* Returns what MPI was given for STATE. */
static void *create(void *state, int *keyval)
{
    assert_int_equal(hw_world_create_keyval(fake_create, copy, erase, keyval, state), MPI_SUCCESS);
    return given;
}

static void freed_keyvals_take_no_more_memory(void **state)
{
    (void)state;
    int one = 0, other = 0, keyval, second;
    const void *first = create(&one, &keyval);
    assert_ptr_not_equal(create(&one, &second), first); /* while both are there */
    for (int i = 0; i < 3; i++) {
        assert_int_equal(hw_world_free_keyval(fake_free, &keyval), MPI_SUCCESS);
        assert_ptr_not_equal(create(&other, &keyval), first);
        assert_int_equal(hw_world_free_keyval(fake_free, &keyval), MPI_SUCCESS);
        assert_ptr_equal(create(&one, &keyval), first);
        assert_ptr_equal(hw_real_keyval_hooks.find(keyval), first);
    }
    assert_int_equal(freed, 6);
}

static void keyval_that_is_not_freed_is_still_known(void **state)
{
    (void)state;
    int one = 0, keyval, none = MPI_KEYVAL_INVALID;
    const void *first = create(&one, &keyval);
    is_refused = true;
    assert_int_equal(hw_world_free_keyval(fake_free, &keyval), MPI_ERR_OTHER);
    assert_int_equal(hw_world_free_keyval(fake_free, &none), MPI_ERR_OTHER);
    is_refused = false;
    assert_ptr_equal(hw_real_keyval_hooks.find(keyval), first);
    assert_ptr_not_equal(create(&one, &none), first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(freed_keyvals_take_no_more_memory),
        cmocka_unit_test(keyval_that_is_not_freed_is_still_known),
    };
    return cmocka_run_group_tests(tests, open_world, NULL);
}
