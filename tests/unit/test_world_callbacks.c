/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: with ghosts, what MPI is given for a keyval's functions and state serves the next keyval of
 * the same once the program has freed the first, and no other. An error handler with a state of its own is
 * told of the world that the program knows. */
#include "mpi/world_callbacks.h"
#include "real/constants.h"
#include "real/extensions.h"
#include "real/keyval.h"
#include "world/comm.h"
#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
    hw_world_translation.from = HW_COMM_WORLD;
    memset(&hw_world_translation.to, 0x33, sizeof hw_world_translation.to);
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

/* ---- error handlers with a state ---- */

static hw_real_handler_function *given_function;
static hw_real_handler_destructor *given_destructor;
static int told, ended;

static int fake_create_handler(hw_real_handler_function *function, hw_real_handler_destructor *destructor,
                               void *state, MPI_Errhandler *errhandler)
{
    (void)errhandler;
    given_function = function;
    given_destructor = destructor;
    given = state;
    return is_refused ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void hear(MPI_Comm comm, int code, void *state)
{
    assert_true(comm == HW_COMM_WORLD && code == MPI_ERR_TAG && state == &told);
    told++;
}

static void hear_end(void *state)
{
    assert_ptr_equal(state, &told);
    ended++;
}

static void handlers_with_a_state_are_told_of_the_programs_world(void **state)
{
    (void)state;
    MPI_Errhandler handler;
    hw_real_handler_create *create_handler = fake_create_handler;
    assert_int_equal(hw_real_extension_hooks.create_handler(create_handler, hear, hear_end, &told, &handler),
                     MPI_SUCCESS);
    given_function(hw_world_translation.to, MPI_ERR_TAG, given);
    given_destructor(given);
    assert_int_equal(told, 1);
    assert_int_equal(ended, 1);
    assert_int_equal(hw_real_extension_hooks.create_handler(create_handler, hear, NULL, &told, &handler),
                     MPI_SUCCESS);
    given_destructor(given);
    is_refused = true;
    assert_int_equal(hw_real_extension_hooks.create_handler(create_handler, hear, hear_end, &told, &handler),
                     MPI_ERR_OTHER);
    is_refused = false;
    assert_int_equal(ended, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(freed_keyvals_take_no_more_memory),
        cmocka_unit_test(keyval_that_is_not_freed_is_still_known),
        cmocka_unit_test(handlers_with_a_state_are_told_of_the_programs_world),
    };
    return cmocka_run_group_tests(tests, open_world, NULL);
}
