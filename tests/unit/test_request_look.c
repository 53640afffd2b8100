/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: doors that do not block leave the tracker's requests as they are, but for those that they find
 * complete. */
#include "objects/request_look.h"
#include "request_tests.h"

static bool is_any_pending;

static void pending_stay_as_they_are(void **state)
{
    (void)state;
    MPI_Request requests[] = {handle_of(1), HW_REQUEST_NULL, handle_of(2), handle_of(9)};
    hw_request_post(requests[0], HW_REQUEST_P2P, 100);
    hw_request_post(requests[2], HW_REQUEST_COLLECTIVE, 10);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(hw_request_look(4, requests), HW_REQUEST_LOOKS);
        assert_counts(2, 2, 2);
        assert_true(hw_request_looked(requests, 0, NULL, false, &is_any_pending));
        assert_true(is_any_pending);
        assert_counts(2, 2, 2);
    }
    int index = 2;
    hw_request_look(4, requests);
    requests[2] = HW_REQUEST_NULL;
    assert_true(hw_request_looked(requests, 1, &index, false, &is_any_pending));
    assert_true(is_any_pending);
    assert_counts(1, 1, 1);
    assert_int_equal(atomic_load(&hw_request_pending_bytes), 100);
    hw_request_look(4, requests);
    requests[0] = HW_REQUEST_NULL; /* nobody says so: its handle does, where it is looked at */
    assert_true(hw_request_looked(requests, 0, NULL, true, &is_any_pending));
    assert_counts(1, 1, 1);
    requests[0] = handle_of(1);
    hw_request_look(4, requests);
    requests[0] = HW_REQUEST_NULL;
    assert_true(hw_request_looked(requests, 0, NULL, false, &is_any_pending));
    assert_false(is_any_pending);
    assert_counts(0, 0, 0);
    assert_int_equal(hw_request_look(4, requests), HW_REQUEST_LOOKS_AT_NOTHING);
}

static void persistent_and_told_each(void **state)
{
    (void)state;
    MPI_Request requests[] = {handle_of(1), handle_of(2)};
    uint64_t bytes;
    hw_request_define(requests[0], HW_REQUEST_P2P, 4096);
    hw_request_define(requests[1], HW_REQUEST_P2P, 4096);
    assert_int_equal(hw_request_look(2, requests), HW_REQUEST_LOOKS_AT_NOTHING);
    start(2, requests, &bytes);
    assert_int_equal(hw_request_look(2, requests), HW_REQUEST_LOOKS);
    hw_request_look_found(requests, 1);
    hw_request_looked(requests, 0, NULL, false, &is_any_pending);
    assert_true(is_any_pending);
    assert_counts(2, 1, 1);
    hw_request_look(2, requests);
    hw_request_looked(requests, 2, NULL, false, &is_any_pending);
    assert_false(is_any_pending);
    assert_counts(2, 0, 0);
    hw_request_drop(2, requests);
}

/* The call failed, and the program wants no statuses: what is persistent may be complete. */
static void untold(void **state)
{
    (void)state;
    MPI_Request requests[] = {handle_of(1), handle_of(2)};
    uint64_t bytes;
    hw_request_define(requests[0], HW_REQUEST_P2P, 4096);
    hw_request_post(requests[1], HW_REQUEST_P2P, 100);
    start(1, requests, &bytes);
    assert_int_equal(hw_request_look(2, requests), HW_REQUEST_LOOKS);
    hw_request_look_untold(requests);
    hw_request_looked(requests, 0, NULL, false, &is_any_pending);
    assert_counts(2, 1, 1);
    start(1, requests, &bytes);
    assert_counts(2, 2, 2);
    struct hw_request_taken taken;
    assert_true(hw_request_take(2, requests, &taken));
    hw_request_mark_untold(&taken);
    assert_int_equal(hw_request_return(&taken, requests), 1);
    assert_counts(2, 1, 1);
    hw_request_drop(2, requests);
}

/* The MPI completed it, and gave another thread's new request the handle, before the door came back. */
static void handle_used_again(void **state)
{
    (void)state;
    MPI_Request request = handle_of(1), after = HW_REQUEST_NULL;
    hw_request_post(request, HW_REQUEST_P2P, 5);
    hw_request_look(1, &request);
    hw_request_post(request, HW_REQUEST_P2P, 7);
    hw_request_looked(&after, 1, NULL, false, &is_any_pending);
    assert_true(is_any_pending); /* the new one */
    assert_counts(1, 1, 1);
    assert_int_equal(atomic_load(&hw_request_pending_bytes), 7);
    hw_request_drop(1, &request);
}

/* A look hides all from the progress thread, which may have gone to sleep meanwhile. */
static void others_are_pending_still(void **state)
{
    (void)state;
    MPI_Request request = handle_of(1), other = handle_of(2);
    hw_request_post(request, HW_REQUEST_P2P, 5);
    hw_request_post(other, HW_REQUEST_P2P, 7);
    hw_request_look(1, &request);
    assert_int_equal(atomic_load(&hw_request_lookers), 1);
    request = HW_REQUEST_NULL;
    hw_request_looked(&request, 1, NULL, false, &is_any_pending);
    assert_int_equal(atomic_load(&hw_request_lookers), 0);
    assert_true(is_any_pending);
    hw_request_drop(1, &other);
}

static void cancelled_while_looked_at(void **state)
{
    (void)state;
    MPI_Request request = handle_of(1), after = HW_REQUEST_NULL;
    struct hw_request_taken by_cancel;
    hw_request_post(request, HW_REQUEST_P2P, 5);
    hw_request_look(1, &request);
    assert_true(hw_request_borrow(1, &request, &by_cancel));
    hw_request_looked(&after, 1, NULL, false, &is_any_pending);
    assert_counts(0, 0, 0);
    assert_int_equal(hw_request_return(&by_cancel, &request), 0);
    assert_counts(0, 0, 0);
}

/* A tool below has the door's own call come back: it stays. A callback completes another one: it goes. */
static void come_back_from_inside_mpi(void **state)
{
    (void)state;
    MPI_Request requests[] = {handle_of(1), handle_of(2)}, other = handle_of(3);
    hw_request_post(requests[0], HW_REQUEST_P2P, 1);
    hw_request_post(requests[1], HW_REQUEST_P2P, 1);
    hw_request_post(other, HW_REQUEST_P2P, 1);
    assert_int_equal(hw_request_look(2, requests), HW_REQUEST_LOOKS);
    assert_int_equal(hw_request_look(1, &other), HW_REQUEST_MUST_TAKE);
    assert_false(hw_request_forget(2, requests));
    assert_counts(3, 1, 3);
    hw_request_forget(1, &other);
    assert_counts(2, 0, 2);
    hw_request_post(other, HW_REQUEST_P2P, 1);
    requests[0] = HW_REQUEST_NULL;
    hw_request_looked(requests, 0, NULL, false, &is_any_pending);
    assert_true(is_any_pending);
    assert_counts(2, 2, 2);
    hw_request_drop(1, &requests[1]);
    hw_request_drop(1, &other);
}

static void nothing(void *attachment) { (void)attachment; }

static void attached_are_taken(void **state)
{
    (void)state;
    static const struct hw_request_calls calls = {.freed = nothing};
    const struct hw_request_attachment attachments[] = {{.calls = &calls},
                                                        {.is_once = true, .is_persistent = true}};
    MPI_Request requests[] = {handle_of(1), handle_of(2)};
    hw_request_post(requests[0], HW_REQUEST_P2P, 1);
    for (int i = 0; i < 2; i++) {
        assert_true(hw_request_reserve());
        hw_request_attach(requests[1], &attachments[i]);
        assert_int_equal(hw_request_look(2, requests), HW_REQUEST_MUST_TAKE);
        hw_request_drop(1, &requests[1]);
        assert_int_equal(hw_request_look(2, requests), HW_REQUEST_LOOKS);
        hw_request_looked(requests, 0, NULL, false, &is_any_pending);
    }
    hw_request_drop(1, &requests[0]);
    assert_counts(0, 0, 0);
}

/* Of an attached one the status tells; where it does not, it is as it was. */
static void attached_are_not_untold(void **state)
{
    (void)state;
    static const struct hw_request_calls calls = {.freed = nothing};
    MPI_Request request = handle_of(1);
    struct hw_request_taken taken;
    uint64_t bytes;
    assert_true(hw_request_reserve());
    hw_request_attach(request, &(struct hw_request_attachment){
                                   .calls = &calls, .is_persistent = true, .is_followed = true});
    start(1, &request, &bytes);
    assert_true(hw_request_take(1, &request, &taken));
    hw_request_mark_untold(&taken);
    assert_int_equal(hw_request_return(&taken, &request), 1);
    assert_counts(1, 1, 1);
    hw_request_drop(1, &request);
}

static void long_arrays(void **state)
{
    (void)state;
    enum { COUNT = 700 };
    static MPI_Request requests[COUNT];
    static int indices[COUNT];
    int left = 0, found = 0;
    for (int i = 0; i < COUNT; i++) {
        requests[i] = handle_of(i);
        hw_request_post(requests[i], HW_REQUEST_P2P, 1);
    }
    assert_int_equal(hw_request_look(COUNT, requests), HW_REQUEST_LOOKS);
    for (int i = 0; i < COUNT; i++)
        if (i % 3 == 0) {
            requests[i] = HW_REQUEST_NULL;
            indices[found++] = i;
        } else
            left++;
    assert_true(hw_request_looked(requests, found, indices, false, &is_any_pending));
    assert_counts(left, left, left);
    hw_request_look(COUNT, requests);
    for (int i = 0; i < COUNT; i++)
        requests[i] = HW_REQUEST_NULL;
    assert_true(hw_request_looked(requests, COUNT, NULL, false, &is_any_pending));
    assert_false(is_any_pending);
    assert_counts(0, 0, 0);
}

int main(void)
{
    hw_real_pretend_loaded();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(pending_stay_as_they_are, start_empty),
        cmocka_unit_test_setup(persistent_and_told_each, start_empty),
        cmocka_unit_test_setup(untold, start_empty),
        cmocka_unit_test_setup(handle_used_again, start_empty),
        cmocka_unit_test_setup(others_are_pending_still, start_empty),
        cmocka_unit_test_setup(cancelled_while_looked_at, start_empty),
        cmocka_unit_test_setup(come_back_from_inside_mpi, start_empty),
        cmocka_unit_test_setup(attached_are_taken, start_empty),
        cmocka_unit_test_setup(attached_are_not_untold, start_empty),
        cmocka_unit_test_setup(long_arrays, start_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
