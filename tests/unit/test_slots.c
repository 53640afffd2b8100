/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: standing in front of what this very program calls of the C library. Built twice: as the linker
 * does by itself, and with slots that the loader made read-only. */
#include "real/slots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <unistd.h>

static int call_count;

static pid_t no_parent(void)
{
    call_count++;
    return -7;
}

static int no_group(void)
{
    call_count++;
    return -8;
}

static struct link_map *program(void)
{
    struct link_map *map = dlopen(NULL, RTLD_LAZY);
    assert_non_null(map);
    return map;
}

static void test_take_and_give(void **state)
{
    (void)state;
    struct hw_real_slot slots[] = {
        {.name = "getppid", .ours = (void *)no_parent},
        {.name = "getpgrp", .ours = (void *)no_group},
    };
    struct link_map *map = program();
    call_count = 0;
    for (int turn = 0; turn < 2; turn++) { /* the first before the loader has bound getpgrp */
        assert_true(hw_real_slots_find(map, slots, 2));
        assert_true(hw_real_slots_take(map, slots, 2));
        assert_int_equal(getppid(), -7);
        assert_int_equal(getpgrp(), -8);
        pid_t parent = ((pid_t(*)(void))slots[0].theirs)();
        assert_true(parent > 0);
        assert_int_equal(getppid(), -7); /* the loader did not put itself in our place */
        hw_real_slots_give(map, slots, 2);
        assert_int_equal(getppid(), parent);
        assert_true(getpgrp() >= 0); /* 0: a group of another name space */
    }
    assert_int_equal(call_count, 6);
}

static void test_not_called(void **state)
{
    (void)state;
    struct hw_real_slot slots[] = {
        {.name = "getppid", .ours = (void *)no_parent},
        {.name = "ucp_disconnect_nb", .ours = (void *)no_group},
    };
    assert_false(hw_real_slots_find(program(), slots, 2));
    assert_true(getppid() > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_take_and_give),
        cmocka_unit_test(test_not_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
