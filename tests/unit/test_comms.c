/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: figures by communicator: handles come and go, what is summed up stays under name and ranks. */
#include "profile/callers/comms.h"
#include "written.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct hw_comms_cache cache;

static struct hw_profile_comm *find(uint64_t handle) { return hw_comms_find(&cache, handle); }

static int start(void **state)
{
    (void)state;
    return hw_comms_open() ? 0 : -1;
}

static struct hw_profile_comm *add(uint64_t number, const char *name, int size, int first)
{
    int ranks[8];
    for (int i = 0; i < size; i++)
        ranks[i] = first + size - 1 - i; /* in whatever order */
    return hw_comms_add(number, name, size, ranks);
}

static void group_is_known_again(void **state)
{
    (void)state;
    assert_null(find(1));
    struct hw_profile_comm *one = add(1, "", 4, 0);
    assert_ptr_equal(find(1), one);
    assert_string_equal(one->ranks, "0-3");
    hw_comms_forget(1);
    assert_null(find(1));
    assert_ptr_equal(add(2, "", 4, 0), one); /* made again under another handle */
    assert_ptr_not_equal(add(3, "", 4, 4), one);
    assert_ptr_not_equal(add(4, "", 3, 0), one);
}

static void handle_used_again_is_another(void **state)
{
    (void)state;
    struct hw_profile_comm *first = add(10, "", 2, 0);
    assert_ptr_equal(find(10), first);
    hw_comms_forget(10);
    struct hw_profile_comm *second = add(10, "", 2, 6);
    assert_ptr_not_equal(first, second);
    assert_ptr_equal(find(10), second);
}

static void name_counts_from_when_it_is_given(void **state)
{
    (void)state;
    struct hw_profile_comm *unnamed = add(20, "", 5, 0);
    hw_comms_rename(20, "columns");
    struct hw_profile_comm *named = find(20);
    assert_ptr_not_equal(named, unnamed);
    assert_string_equal(named->name, "columns");
    assert_string_equal(named->ranks, "0-4");
    hw_comms_rename(21, "nobody"); /* not known: nothing */
    assert_null(find(21));
}

/* Of a communicator with spawned processes: those are not in the world (MPI_UNDEFINED). */
static void ranks_beyond_the_world_are_no_numbers(void **state)
{
    (void)state;
    int some[] = {-32766, 1, 0, -32766}, none[] = {-32766, -32766};
    struct hw_profile_comm *merged = hw_comms_add(60, "", 4, some);
    assert_string_equal(merged->ranks, "0-1,...");
    assert_ptr_not_equal(merged, add(61, "", 4, 0));
    assert_int_equal(hw_comms_world_rank(60, 1), 1);
    assert_int_equal(hw_comms_world_rank(60, 3), -1);
    assert_string_equal(hw_comms_add(62, "", 2, none)->ranks, "");
}

static void many_ranks_are_cut_but_told_apart(void **state)
{
    (void)state;
    enum { SIZE = 64 };
    int even[SIZE], other[SIZE];
    for (int i = 0; i < SIZE; i++)
        even[i] = other[i] = 2 * i;
    other[SIZE - 1]++;
    struct hw_profile_comm *one = hw_comms_add(30, "", SIZE, even);
    assert_ptr_not_equal(one, hw_comms_add(31, "", SIZE, other));
    assert_true(strlen(one->ranks) < sizeof one->ranks);
    assert_non_null(strstr(one->ranks, "0,2,4,"));
    assert_non_null(strstr(one->ranks, ",..."));
    assert_string_equal(hw_comms_add(32, "", SIZE, NULL)->ranks, "");
}

static void ranks_are_found_in_the_world(void **state)
{
    (void)state;
    int row[] = {4, 6, 8}, mixed[] = {5, 0, 3}, alone[] = {7}, outside[] = {2, -32766, 1};
    hw_comms_add(50, "", 3, row);
    hw_comms_add(51, "", 3, mixed); /* sorts them, and still knows who was where */
    hw_comms_add(52, "", 1, alone);
    hw_comms_add(53, "", 3, outside);
    assert_int_equal(hw_comms_world_rank(50, 2), 8);
    assert_int_equal(hw_comms_world_rank(51, 0), 5);
    assert_int_equal(hw_comms_world_rank(51, 1), 0);
    assert_int_equal(hw_comms_world_rank(52, 0), 7);
    assert_int_equal(hw_comms_world_rank(53, 0), 2);
    assert_int_equal(hw_comms_world_rank(53, 1), -1);
    assert_int_equal(hw_comms_world_rank(50, 3), -1);
    assert_int_equal(hw_comms_world_rank(50, -1), -1);
    assert_int_equal(hw_comms_world_rank(54, 0), -1);

    assert_int_equal(hw_comms_own_rank(50), -1);
    hw_comms_set_own(50, 1, false);
    assert_int_equal(hw_comms_own_rank(50), 1);
    hw_comms_set_own(51, 1, true); /* an intercommunicator */
    assert_int_equal(hw_comms_own_rank(51), -1);
    assert_int_equal(hw_comms_world_rank(51, 0), -1);
    for (uint64_t handle = 50; handle < 54; handle++)
        hw_comms_forget(handle);
    assert_int_equal(hw_comms_world_rank(50, 0), -1);
}

static void written_as_json(void **state)
{
    (void)state;
    struct hw_profile_comm *comm = add(40, "a \"name\"", 2, 3);
    comm->calls += 3;
    comm->bytes += 300;
    char *text = written_by(hw_comms_write);
    assert_string_equal(text, "{\"name\": \"a \\\"name\\\"\", \"size\": 2, \"ranks\": \"3-4\", \"calls\": 3, "
                              "\"bytes\": 300}\n");
    free(text);
}

static void full_table_keeps_the_rest_together(void **state)
{
    (void)state;
    struct hw_profile_comm *last = NULL;
    for (uint64_t i = 0; i < 500; i++) {
        char name[16];
        snprintf(name, sizeof name, "c%d", (int)i);
        last = add(1000 + i, name, 2, 0);
    }
    assert_string_equal(last->name, "others");
    assert_ptr_equal(find(1499), last);
    hw_comms_rename(1499, "late");
    assert_ptr_equal(find(1499), last);
    assert_string_equal(find(40)->name, "a \"name\""); /* those before stay */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(group_is_known_again),
        cmocka_unit_test(handle_used_again_is_another),
        cmocka_unit_test(name_counts_from_when_it_is_given),
        cmocka_unit_test(ranks_beyond_the_world_are_no_numbers),
        cmocka_unit_test(many_ranks_are_cut_but_told_apart),
        cmocka_unit_test(ranks_are_found_in_the_world),
        cmocka_unit_test(written_as_json),
        cmocka_unit_test(full_table_keeps_the_rest_together),
    };
    return cmocka_run_group_tests_name("comms", tests, start, NULL);
}
