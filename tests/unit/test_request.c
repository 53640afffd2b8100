/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the pending tracker in one thread: states and counters, doors, long arrays, polling, and the
 * table against a model. */
#include "objects/request_table.h"
#include "real/quirks.h"
#include "request_tests.h"

#include <string.h>

/* ---- a fake MPI that answers what a test told it to
 * -------------------------------------------------------- */

static bool is_complete_there[1024];
static int asked_count, asked_last, answer_rc;

static int answer_status(MPI_Request request, int *flag, MPI_Status *status)
{
    (void)status;
    asked_count++;
    asked_last = number_of(request);
    *flag = is_complete_there[asked_last];
    return answer_rc;
}

static int use_answers(void **state)
{
    memset(is_complete_there, 0, sizeof is_complete_there);
    asked_count = 0;
    answer_rc = MPI_SUCCESS;
    hw_bottom.Request_get_status = answer_status;
    hw_real_request_is_complete = NULL;
    return start_empty(state);
}

static int answer_plainly(MPI_Request request)
{
    asked_last = number_of(request);
    return is_complete_there[asked_last];
}

/* An MPI with MPIX_Request_is_complete. */
static int use_plain_answers(void **state)
{
    use_answers(state);
    hw_real_request_is_complete = answer_plainly;
    return 0;
}

/* ---- one request -----------------------------------------------------------------------------------------
 */

static void nameless_until_its_flush(void **state)
{
    (void)state;
    bool has_polled = true;
    hw_request_nameless_post();
    hw_request_nameless_post();
    assert_counts(0, 2, 2);
    assert_int_equal(hw_request_poll(&has_polled), 0);
    assert_false(has_polled);
    hw_request_nameless_take(2);
    assert_counts(0, 0, 2);
    hw_request_nameless_end(2);
    assert_counts(0, 0, 0);
}

static void posted_and_completed(void **state)
{
    (void)state;
    MPI_Request request = handle_of(1);
    struct hw_request_taken taken;
    assert_false(hw_request_is_any_known());
    assert_true(hw_request_post(request, HW_REQUEST_P2P, 1000));
    assert_true(hw_request_is_any_known());
    assert_counts(1, 1, 1);
    assert_true(hw_request_take(1, &request, &taken));
    assert_counts(1, 0, 1);
    request = HW_REQUEST_NULL;
    assert_int_equal(hw_request_return(&taken, &request), 0);
    assert_counts(0, 0, 0);
}

static void still_pending_goes_back(void **state)
{
    (void)state;
    MPI_Request request = handle_of(1);
    struct hw_request_taken taken;
    hw_request_post(request, HW_REQUEST_COLLECTIVE, 0);
    for (int i = 0; i < 3; i++) {
        assert_true(hw_request_take(1, &request, &taken));
        assert_counts(1, 0, 1);
        assert_int_equal(hw_request_return(&taken, &request), 1);
        assert_counts(1, 1, 1);
    }
}

static void marked_complete_with_its_handle(void **state)
{
    (void)state;
    MPI_Request request = handle_of(1);
    struct hw_request_taken taken;
    hw_request_post(request, HW_REQUEST_RMA, 8);
    hw_request_take(1, &request, &taken);
    hw_request_mark_complete(&taken, 0, NULL, MPI_SUCCESS);
    assert_int_equal(hw_request_return(&taken, &request), 0);
    assert_counts(0, 0, 0);
}

static void unknown_and_null_are_left_alone(void **state)
{
    (void)state;
    MPI_Request requests[] = {HW_REQUEST_NULL, handle_of(1)};
    struct hw_request_taken taken;
    uint64_t bytes = 1;
    assert_false(hw_request_post(HW_REQUEST_NULL, HW_REQUEST_P2P, 1));
    hw_request_define(HW_REQUEST_NULL, HW_REQUEST_P2P, 1);
    assert_false(hw_request_take(2, requests, &taken));
    assert_int_equal(start(2, requests, &bytes), 0);
    assert_int_equal(bytes, 0);
    hw_request_drop(2, requests);
    assert_counts(0, 0, 0);
}

static void persistent_starts_again(void **state)
{
    (void)state;
    MPI_Request request = handle_of(1);
    struct hw_request_taken taken;
    hw_request_define(request, HW_REQUEST_P2P, 4096);
    assert_counts(1, 0, 0);
    assert_false(hw_request_take(1, &request, &taken)); /* inactive: nothing to take */
    for (int i = 0; i < 3; i++) {
        uint64_t bytes = 0;
        assert_int_equal(start(1, &request, &bytes), 1);
        assert_int_equal(bytes, 4096);
        assert_counts(1, 1, 1);
        assert_true(hw_request_take(1, &request, &taken));
        hw_request_mark_all_complete(&taken, NULL);
        assert_int_equal(hw_request_return(&taken, &request), 0);
        assert_counts(1, 0, 0);
    }
    hw_request_drop(1, &request);
    assert_counts(0, 0, 0);
}

static void start_sums_what_it_knows(void **state)
{
    (void)state;
    MPI_Request requests[] = {handle_of(1), handle_of(2), handle_of(3), handle_of(4)};
    uint64_t bytes;
    hw_request_define(requests[0], HW_REQUEST_P2P, 100);
    hw_request_post(requests[1], HW_REQUEST_P2P, 1000); /* not persistent: nothing that could be started */
    hw_request_define(requests[3], HW_REQUEST_PARTITIONED, 7);
    assert_int_equal(start(4, requests, &bytes), 2);
    assert_int_equal(bytes, 107);
    assert_counts(3, 3, 3);
}

/* The MPI completed it where we did not look, and gave the handle to a new operation. */
static void handle_used_again(void **state)
{
    (void)state;
    MPI_Request request = handle_of(1);
    struct hw_request_taken taken;
    hw_request_define(request, HW_REQUEST_P2P, 5);
    hw_request_post(request, HW_REQUEST_COLLECTIVE, 6);
    assert_counts(1, 1, 1);
    /* And while a door had it: what the door found is about the old operation. */
    MPI_Request after = HW_REQUEST_NULL;
    hw_request_take(1, &request, &taken);
    hw_request_post(request, HW_REQUEST_P2P, 7);
    assert_int_equal(hw_request_return(&taken, &after), 0);
    assert_counts(1, 1, 1);
    /* Or another door has the new one already. */
    struct hw_request_taken other;
    hw_request_take(1, &request, &taken);
    hw_request_post(request, HW_REQUEST_P2P, 8);
    assert_true(hw_request_take(1, &request, &other));
    assert_int_equal(hw_request_return(&taken, &after), 0);
    assert_counts(1, 0, 1);
    assert_int_equal(hw_request_return(&other, &request), 1);
    assert_counts(1, 1, 1);
}

static int freed_count;
static void count_freed(void *attachment) { (void)attachment, freed_count++; }

/* The door's own request is over, its handle a new one's that nobody enters: a cancel of that one has to go
 * to the MPI, and a wait for it must not take what the door has. */
static void handle_used_again_by_one_left_out(void **state)
{
    (void)state;
    static const struct hw_request_guard guard;
    static const struct hw_request_calls calls = {.freed = count_freed, .guard = &guard};
    MPI_Request request = handle_of(1), after = HW_REQUEST_NULL;
    struct hw_request_taken by_wait, by_other;
    freed_count = 0;
    assert_true(hw_request_reserve());
    hw_request_attach(request, &(struct hw_request_attachment){.calls = &calls});
    assert_true(hw_request_take(1, &request, &by_wait));
    assert_false(hw_request_borrow(1, &request, &by_other));
    assert_ptr_equal(by_other.elsewhere, &guard); /* it is the same request, as far as can be known */
    hw_request_leave_out(request);
    assert_false(hw_request_borrow(1, &request, &by_other));
    assert_null(by_other.elsewhere);
    assert_false(hw_request_take(1, &request, &by_other));
    assert_int_equal(freed_count, 0);
    assert_int_equal(hw_request_return(&by_wait, &after), 0);
    assert_int_equal(freed_count, 1);
    assert_counts(0, 0, 0);
    assert_int_equal(atomic_load(&hw_request_attached), 0);
}

static void cancelled_while_waited_for(void **state)
{
    (void)state;
    MPI_Request request = handle_of(1), after = HW_REQUEST_NULL;
    struct hw_request_taken by_wait, by_cancel;
    hw_request_post(request, HW_REQUEST_P2P, 5);
    assert_true(hw_request_take(1, &request, &by_wait));
    assert_false(hw_request_borrow(1, &request, &by_cancel));
    assert_counts(1, 0, 1);
    assert_int_equal(hw_request_return(&by_wait, &after), 0);
    assert_counts(0, 0, 0);
    /* And in the other order. */
    hw_request_post(request, HW_REQUEST_P2P, 5);
    assert_true(hw_request_borrow(1, &request, &by_cancel));
    assert_true(hw_request_take(1, &request, &by_wait));
    assert_int_equal(hw_request_return(&by_wait, &after), 0);
    assert_counts(0, 0, 0);
    assert_int_equal(hw_request_return(&by_cancel, &request), 0);
    assert_counts(0, 0, 0);
    hw_request_post(request, HW_REQUEST_P2P, 5);
    assert_true(hw_request_borrow(1, &request, &by_cancel));
    assert_true(hw_request_take(1, &request, &by_wait));
    assert_int_equal(hw_request_return(&by_cancel, &request), 0);
    assert_counts(1, 0, 1);
    assert_int_equal(hw_request_return(&by_wait, &request), 1);
    assert_counts(1, 1, 1);
}

static void dropped_in_every_state(void **state)
{
    (void)state;
    MPI_Request requests[] = {handle_of(1), handle_of(2), handle_of(3), handle_of(4)};
    struct hw_request_taken taken;
    bool has_polled;
    hw_request_post(requests[0], HW_REQUEST_P2P, 1);
    is_complete_there[1] = true;
    hw_request_poll(&has_polled);
    assert_counts(1, 0, 1); /* DONE */
    hw_request_post(requests[1], HW_REQUEST_P2P, 1);
    hw_request_define(requests[2], HW_REQUEST_P2P, 1);
    hw_request_post(requests[3], HW_REQUEST_P2P, 1);
    hw_request_take(1, &requests[3], &taken);
    assert_counts(4, 1, 3);
    hw_request_drop(4, requests);
    assert_counts(0, 0, 0);
    assert_int_equal(hw_request_return(&taken, &requests[3]), 0);
    assert_counts(0, 0, 0);
}

/* ---- arrays
 * ------------------------------------------------------------------------------------------------ */

static void long_arrays(void **state)
{
    (void)state;
    enum { COUNT = 700 };
    static MPI_Request before[COUNT], after[COUNT];
    struct hw_request_taken taken;
    int known = 0, pending = 0;
    for (int i = 0; i < COUNT; i++) {
        before[i] = i % 5 == 4 ? HW_REQUEST_NULL : handle_of(i);
        after[i] = i % 3 == 0 ? HW_REQUEST_NULL : before[i];
        if (i % 5 < 3) { /* 3 of 5 known, one unknown, one null */
            hw_request_post(before[i], HW_REQUEST_P2P, 1);
            known++;
            pending += i % 3 == 1;
        }
    }
    assert_true(hw_request_take(COUNT, before, &taken));
    assert_int_equal(taken.count, known);
    assert_counts(known, 0, known);
    for (int i = 0; i < COUNT; i++)
        if (i % 3 == 2)
            hw_request_mark_complete(&taken, i, NULL, MPI_SUCCESS); /* known or not */
    assert_int_equal(hw_request_return(&taken, after), pending);
    assert_counts(pending, pending, pending);
    assert_true(hw_request_take(COUNT, after, &taken));
    assert_int_equal(taken.count, pending);
    hw_request_mark_all_complete(&taken, NULL);
    assert_int_equal(hw_request_return(&taken, after), 0);
    assert_counts(0, 0, 0);
}

/* What looks for requests looks at all of the table. */
static void a_burst_leaves_no_long_table(void **state)
{
    (void)state;
    enum { BURST = 20000, KEPT = 40, POLLS = 5 };
    static MPI_Request requests[BURST];
    struct hw_request_taken taken;
    bool has_polled;
    for (int i = 0; i < BURST; i++) {
        requests[i] = handle_of(i);
        hw_request_post(requests[i], HW_REQUEST_P2P, 1);
    }
    hw_request_drop(BURST - KEPT, &requests[KEPT]);
    assert_true(hw_request_slot_mask >= 2 * BURST);
    for (int i = 0; i < KEPT; i++)
        is_complete_there[i] = true;
    for (int i = 0; i < POLLS; i++)
        hw_request_poll(&has_polled);
    assert_true(hw_request_slot_mask < 8 * KEPT);
    assert_counts(KEPT, 0, KEPT);
    assert_true(hw_request_take(KEPT, requests, &taken));
    assert_int_equal(taken.count, KEPT);
    hw_request_return(&taken, requests);
    hw_request_drop(KEPT, requests);
    assert_counts(0, 0, 0);
}

/* ---- the table against a model
 * ------------------------------------------------------------------------------ */

enum { MODEL_COUNT = 600, MODEL_STEPS = 60000 };
enum model_state { MODEL_UNKNOWN, MODEL_INACTIVE, MODEL_ACTIVE, MODEL_DONE };

static struct {
    enum model_state state;
    bool is_persistent;
} model[MODEL_COUNT];

static void assert_like_model(void)
{
    unsigned known = 0, pending = 0, outstanding = 0;
    for (int i = 0; i < MODEL_COUNT; i++) {
        known += model[i].state != MODEL_UNKNOWN;
        pending += model[i].state == MODEL_ACTIVE;
        outstanding += model[i].state >= MODEL_ACTIVE;
    }
    assert_counts(known, pending, outstanding);
}

/* A door over a random run of handles, of which it completes some. */
static void model_door(int first, uint32_t *seed)
{
    MPI_Request before[64], after[64];
    struct hw_request_taken taken;
    int count = 1 + (int)(random_next(seed) % 64), expected = 0, expected_back = 0;
    for (int i = 0; i < count; i++) {
        int number = (first + i) % MODEL_COUNT;
        before[i] = after[i] = handle_of(number);
        expected += model[number].state >= MODEL_ACTIVE;
    }
    bool has_taken = hw_request_take(count, before, &taken);
    assert_int_equal(taken.count, expected);
    assert_true(has_taken == (expected != 0));
    for (int i = 0; i < count; i++) {
        int number = (first + i) % MODEL_COUNT;
        bool is_complete = random_next(seed) % 2 || model[number].state == MODEL_DONE;
        if (model[number].state < MODEL_ACTIVE)
            continue;
        if (is_complete && model[number].is_persistent)
            hw_request_mark_complete(&taken, i, NULL, MPI_SUCCESS);
        else if (is_complete)
            after[i] = HW_REQUEST_NULL;
        expected_back += !is_complete;
        model[number].state = !is_complete                  ? MODEL_ACTIVE
                              : model[number].is_persistent ? MODEL_INACTIVE
                                                            : MODEL_UNKNOWN;
    }
    if (has_taken)
        assert_int_equal(hw_request_return(&taken, after), expected_back);
}

static void model_poll(int number)
{
    bool has_polled;
    is_complete_there[number] = true;
    int completed = hw_request_poll(&has_polled);
    is_complete_there[number] = false;
    if (completed) {
        assert_int_equal(completed, 1);
        model[number].state = MODEL_DONE;
    }
}

static void model_step(int number, uint32_t *seed)
{
    MPI_Request handle = handle_of(number);
    uint64_t bytes;
    switch (random_next(seed) % 8) {
    case 0:
    case 1:
    case 2:
        assert_true(hw_request_post(handle, HW_REQUEST_P2P, 1));
        model[number].state = MODEL_ACTIVE;
        model[number].is_persistent = false;
        break;
    case 3:
        hw_request_define(handle, HW_REQUEST_P2P, 1);
        model[number].state = MODEL_INACTIVE;
        model[number].is_persistent = true;
        break;
    case 4:
        if (start(1, &handle, &bytes))
            model[number].state = MODEL_ACTIVE;
        break;
    case 5:
        hw_request_drop(1, &handle);
        model[number].state = MODEL_UNKNOWN;
        break;
    case 6:
        model_poll(number);
        break;
    default:
        model_door(number, seed);
    }
}

/* Grows the table several times over and closes many gaps, at the wrap-around too. */
static void random_operations(void **state)
{
    (void)state;
    uint32_t seed = 20250607;
    memset(model, 0, sizeof model);
    for (int step = 0; step < MODEL_STEPS; step++) {
        model_step((int)(random_next(&seed) % MODEL_COUNT), &seed);
        assert_like_model();
    }
}

/* ---- polling
 * ------------------------------------------------------------------------------------------------ */

static void poll_stops_at_the_first_incomplete(void **state)
{
    (void)state;
    bool has_polled = true;
    assert_int_equal(hw_request_poll(&has_polled), 0);
    assert_false(has_polled);
    for (int i = 0; i < 10; i++)
        hw_request_post(handle_of(i), HW_REQUEST_P2P, 1);
    assert_int_equal(hw_request_poll(&has_polled), 0);
    assert_true(has_polled);
    assert_int_equal(asked_count, 1);
    memset(is_complete_there, true, sizeof is_complete_there);
    is_complete_there[asked_last] = false;
    int last = asked_last;
    for (int i = 0; i < 2; i++)
        hw_request_poll(&has_polled);
    is_complete_there[last] = true;
    hw_request_poll(&has_polled);
    assert_false(has_polled);
    assert_counts(10, 0, 10);
}

static void some_kinds_are_never_asked_about(void **state)
{
    (void)state;
    MPI_Request persistent = handle_of(3);
    uint64_t bytes;
    bool has_polled;
    hw_request_post(handle_of(1), HW_REQUEST_PARTITIONED, 1);
    hw_request_post(handle_of(2), HW_REQUEST_IO, 1);
    hw_request_define(persistent, HW_REQUEST_P2P, 1);
    start(1, &persistent, &bytes);
    assert_int_equal(hw_request_poll(&has_polled), 0);
    assert_false(has_polled);
    assert_int_equal(asked_count, 0);
    assert_counts(3, 3, 3);
}

/* Asking by MPIX_Request_is_complete harms no persistent request, and moves nothing. */
static void plain_question_is_harmless(void **state)
{
    (void)state;
    MPI_Request persistent = handle_of(1), rma = handle_of(2);
    uint64_t bytes;
    bool has_polled;
    hw_request_define(persistent, HW_REQUEST_P2P, 1);
    start(1, &persistent, &bytes);
    hw_request_post(rma, HW_REQUEST_RMA, 1);
    hw_request_post(handle_of(3), HW_REQUEST_PARTITIONED, 1);
    is_complete_there[1] = is_complete_there[2] = is_complete_there[3] = true;
    assert_int_equal(hw_request_poll(&has_polled), 2);
    assert_false(has_polled);
    assert_int_equal(asked_count, HW_REAL_ASKING_RAISES ? 0 : 1); /* about the one-sided operation */
    assert_counts(3, 1, 3);

    struct hw_request_taken taken; /* started again, it is asked about again */
    assert_true(hw_request_take(1, &persistent, &taken));
    hw_request_mark_all_complete(&taken, NULL);
    assert_int_equal(hw_request_return(&taken, &persistent), 0);
    is_complete_there[1] = false;
    start(1, &persistent, &bytes);
    assert_int_equal(hw_request_poll(&has_polled), 0);
    assert_int_equal(asked_last, 1);
    assert_false(has_polled);
}

/* Every other request is asked about in the way that makes progress, as long as that raises nothing. */
static void plain_question_is_the_exception(void **state)
{
    (void)state;
    bool has_polled;
    hw_request_post(handle_of(1), HW_REQUEST_P2P, 1);
    assert_int_equal(hw_request_poll(&has_polled), 0);
    assert_true(has_polled);
    assert_int_equal(asked_count, 1);
    hw_request_allow_asking(HW_REQUEST_ASK_NOT);
    assert_int_equal(hw_request_poll(&has_polled), 0);
    assert_false(has_polled);
    is_complete_there[1] = true;
    assert_int_equal(hw_request_poll(&has_polled), 1);
    assert_int_equal(asked_count, 1);
    hw_request_allow_asking(HW_REQUEST_ASK);
}

static void error_is_left_to_the_program(void **state)
{
    (void)state;
    MPI_Request request = handle_of(1);
    struct hw_request_taken taken;
    bool has_polled;
    hw_request_post(request, HW_REQUEST_P2P, 1);
    answer_rc = MPI_ERR_TRUNCATE;
    assert_int_equal(hw_request_poll(&has_polled), 1);
    assert_counts(1, 0, 1);
    assert_true(hw_request_take(1, &request, &taken));
    hw_request_mark_all_complete(&taken, NULL);
    hw_request_return(&taken, &request);
    assert_counts(0, 0, 0);
}

static void receives_are_started_last(void **state)
{
    (void)state;
    int order[5];
    uint64_t bytes;
    MPI_Request requests[5];
    for (int i = 0; i < 5; i++)
        requests[i] = handle_of(i + 1); /* the last one is not known */
    hw_request_define_receive(requests[0], 100);
    hw_request_define(requests[1], HW_REQUEST_P2P, 100);
    hw_request_define_receive(requests[2], 50);
    hw_request_define(requests[3], HW_REQUEST_P2P, 100);
    assert_true(hw_request_sends_first(5, requests, order));
    const int sends_first[] = {1, 3, 4, 0, 2};
    assert_memory_equal(order, sends_first, sizeof order);
    assert_false(hw_request_sends_first(2, requests + 1, order));
    const int as_they_are[] = {0, 1};
    assert_memory_equal(order, as_they_are, sizeof as_they_are);
    assert_int_equal(hw_request_direction(2, requests, &bytes), HW_REQUEST_UNKNOWN);
    assert_int_equal(hw_request_direction(1, requests + 1, &bytes), HW_REQUEST_SENDS);
    assert_int_equal(hw_request_direction(2, requests + 3, &bytes), HW_REQUEST_UNKNOWN);
    requests[1] = requests[2];
    assert_int_equal(hw_request_direction(2, requests, &bytes), HW_REQUEST_RECEIVES);
    assert_int_equal(bytes, 50);
    assert_true(hw_request_start(2, requests).are_receives);
    assert_int_equal(hw_request_direction(1, requests, &bytes), HW_REQUEST_UNKNOWN); /* it is active */
    assert_false(hw_request_start(3, requests + 1).are_receives);
    requests[1] = handle_of(2);
    hw_request_drop(4, requests);
    assert_counts(0, 0, 0);
}

int main(void)
{
    hw_real_pretend_loaded();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(posted_and_completed, use_answers),
        cmocka_unit_test_setup(still_pending_goes_back, use_answers),
        cmocka_unit_test_setup(marked_complete_with_its_handle, use_answers),
        cmocka_unit_test_setup(unknown_and_null_are_left_alone, use_answers),
        cmocka_unit_test_setup(persistent_starts_again, use_answers),
        cmocka_unit_test_setup(receives_are_started_last, use_answers),
        cmocka_unit_test_setup(start_sums_what_it_knows, use_answers),
        cmocka_unit_test_setup(handle_used_again, use_answers),
        cmocka_unit_test_setup(handle_used_again_by_one_left_out, use_answers),
        cmocka_unit_test_setup(cancelled_while_waited_for, use_answers),
        cmocka_unit_test_setup(dropped_in_every_state, use_answers),
        cmocka_unit_test_setup(long_arrays, use_answers),
        cmocka_unit_test_setup(random_operations, use_answers),
        cmocka_unit_test_setup(nameless_until_its_flush, use_answers),
        cmocka_unit_test_setup(a_burst_leaves_no_long_table, use_answers),
        cmocka_unit_test_setup(poll_stops_at_the_first_incomplete, use_answers),
        cmocka_unit_test_setup(some_kinds_are_never_asked_about, use_answers),
        cmocka_unit_test_setup(plain_question_is_harmless, use_plain_answers),
        cmocka_unit_test_setup(plain_question_is_the_exception, use_plain_answers),
        cmocka_unit_test_setup(error_is_left_to_the_program, use_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
