/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: persistent requests that stand for one operation: the door that completes them frees them, and
 * one that is asked about many again and again uses the same memory. */
#include "hooks.h"
#include "request_tests.h"

#include <stdlib.h>

static int freed_count;

static int free_it(MPI_Request *request)
{
    freed_count++;
    *request = HW_REQUEST_NULL;
    return MPI_SUCCESS;
}

static int use_frees(void **state)
{
    freed_count = 0;
    hw_bottom.Request_free = free_it;
    return start_empty(state);
}

static MPI_Request attached(int number)
{
    assert_true(hw_request_reserve());
    hw_request_attach(handle_of(number),
                      &(struct hw_request_attachment){.bytes = 1000, .is_followed = true, .is_once = true});
    return handle_of(number);
}

static void completed_ones_are_freed(void **state)
{
    (void)state;
    MPI_Request requests[] = {attached(1), attached(2), HW_REQUEST_NULL};
    MPI_Status statuses[3] = {{0}};
    struct hw_request_taken taken;
    assert_counts(2, 2, 2);
    assert_int_equal(atomic_load(&hw_request_attached), 0);
    assert_true(hw_request_take(3, requests, &taken));
    assert_int_equal(taken.once, 2);
    assert_int_equal(taken.attached, 2); /* so the door has statuses */
    hw_request_mark_complete(&taken, 1, &statuses[1], MPI_SUCCESS);
    hw_request_end_once(&taken, requests);
    assert_int_equal(freed_count, 1);
    assert_true(requests[0] == handle_of(1));
    assert_true(requests[1] == HW_REQUEST_NULL);
    assert_int_equal(hw_request_return(&taken, requests), 1);
    assert_counts(1, 1, 1);
}

static void failed_one_is_freed_once(void **state)
{
    (void)state;
    MPI_Request request = attached(1);
    MPI_Status status = {0};
    struct hw_request_taken taken;
    hw_request_take(1, &request, &taken);
    hw_request_mark_complete(&taken, 0, &status, MPI_ERR_TRUNCATE);
    request = HW_REQUEST_NULL; /* the MPI has freed it, for its error */
    hw_request_end_once(&taken, &request);
    assert_int_equal(freed_count, 0);
    assert_int_equal(hw_request_return(&taken, &request), 0);
    assert_counts(0, 0, 0);
}

/* MPI_Request_get_status completes nothing. */
static void asked_one_stays(void **state)
{
    (void)state;
    MPI_Request request = attached(1);
    MPI_Status status = {0};
    struct hw_request_taken taken;
    for (int i = 0; i < 2; i++) {
        assert_true(hw_request_borrow(1, &request, &taken));
        hw_request_mark_complete(&taken, 0, &status, MPI_SUCCESS);
        assert_int_equal(hw_request_return(&taken, &request), 0);
        assert_counts(1, 0, 1);
    }
    assert_true(hw_request_take(1, &request, &taken));
    hw_request_mark_complete(&taken, 0, &status, MPI_SUCCESS);
    hw_request_end_once(&taken, &request);
    assert_true(request == HW_REQUEST_NULL);
    hw_request_return(&taken, &request);
    assert_counts(0, 0, 0);
}

static void door_within_mpi_has_to_be_called(void **state)
{
    (void)state;
    MPI_Request request = attached(1);
    assert_true(hw_request_forget(1, &request));
    assert_counts(1, 0, 0); /* nobody follows it any more */
    struct hw_request_taken taken;
    assert_true(hw_request_take(1, &request, &taken));
    hw_request_return(&taken, &request);
}

static void handle_used_again_is_a_usual_one(void **state)
{
    (void)state;
    MPI_Request request = attached(1);
    struct hw_request_taken taken;
    assert_true(hw_request_post(request, HW_REQUEST_P2P, 10));
    hw_request_take(1, &request, &taken);
    assert_int_equal(taken.once, 0);
    request = HW_REQUEST_NULL;
    hw_request_return(&taken, &request);
    assert_counts(0, 0, 0);
}

/* Beyond what a door has room for. Whoever asks in between would get what was given back. */
enum { MANY = HW_REQUEST_ITEMS + 8 };

static void *use_between(size_t bytes)
{
    void *volatile memory = malloc(bytes);
    assert_non_null(memory);
    return memory;
}

static void many_are_taken_into_the_same_memory(void **state)
{
    (void)state;
    MPI_Request requests[MANY];
    struct hw_request_taken taken;
    for (int i = 0; i < MANY; i++)
        requests[i] = attached(1 + i);
    assert_true(hw_request_take(MANY, requests, &taken));
    assert_int_equal(taken.count, MANY);
    const void *items = taken.items;
    assert_int_equal(hw_request_return(&taken, requests), MANY);
    void *between = use_between((size_t)taken.capacity * sizeof *taken.items);
    assert_true(hw_request_take(MANY, requests, &taken));
    assert_ptr_equal(taken.items, items);
    assert_int_equal(hw_request_return(&taken, requests), MANY);
    free(between);
    hw_request_drop(MANY, requests);
    assert_counts(0, 0, 0);
}

static MPI_Status *got; /* by the real call */

static int test_none(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    (void)requests;
    assert_int_equal(count, MANY);
    got = statuses;
    *flag = 0;
    return MPI_SUCCESS;
}

static void statuses_that_nobody_wants_are_in_the_same_memory(void **state)
{
    (void)state;
    MPI_Request requests[MANY];
    int flag;
    for (int i = 0; i < MANY; i++)
        requests[i] = attached(1 + i);
    hw_real.Testall = test_none;
    assert_int_equal(hw_testall(MANY, requests, &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    const MPI_Status *first = got;
    assert_ptr_not_equal(first, MPI_STATUSES_IGNORE);
    void *between = use_between(MANY * sizeof(MPI_Status));
    assert_int_equal(hw_testall(MANY, requests, &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    assert_ptr_equal(got, first);
    free(between);
    assert_counts(MANY, MANY, MANY);
    hw_request_drop(MANY, requests);
}

/* Some MPI. */
static int get_version(char *text, int *length)
{
    text[0] = '\0';
    *length = 0;
    return MPI_SUCCESS;
}

int main(void)
{
    hw_real_pretend_loaded();
    hw_bottom.Get_library_version = get_version;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(completed_ones_are_freed, use_frees),
        cmocka_unit_test_setup(failed_one_is_freed_once, use_frees),
        cmocka_unit_test_setup(asked_one_stays, use_frees),
        cmocka_unit_test_setup(door_within_mpi_has_to_be_called, use_frees),
        cmocka_unit_test_setup(handle_used_again_is_a_usual_one, use_frees),
        cmocka_unit_test_setup(many_are_taken_into_the_same_memory, use_frees),
        cmocka_unit_test_setup(statuses_that_nobody_wants_are_in_the_same_memory, use_frees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
