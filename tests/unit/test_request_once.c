/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: persistent requests that stand for one operation: the door that completes them frees them. */
#include "request_tests.h"

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

int main(void)
{
    hw_real_pretend_loaded();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(completed_ones_are_freed, use_frees),
        cmocka_unit_test_setup(failed_one_is_freed_once, use_frees),
        cmocka_unit_test_setup(asked_one_stays, use_frees),
        cmocka_unit_test_setup(door_within_mpi_has_to_be_called, use_frees),
        cmocka_unit_test_setup(handle_used_again_is_a_usual_one, use_frees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
