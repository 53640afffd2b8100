/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: attachments of requests: each door tells each of what became of its request, once, before it
 * returns, with a status even where the program wants none; and what the program gets is what the MPI said.
 */
#include "hooks.h"
#include "mpi/track.h"
#include "progress/inside.h"
#include "request_tests.h"

#include <pthread.h>
#include <string.h>

enum { REQUESTS = 48, EACH_THREAD = 12, THREADS = 4, FAILS = MPI_ERR_TRUNCATE };

/* ---- a made-up MPI: requests are complete, fail, or are cancelled, as a test says ------------------------
 */

static struct request {
    int error;
    int completions; /* that a call has given to the program; and what the last one was: */
    int given_error;
    bool given_cancelled;
    bool is_live, is_started, is_complete, is_persistent, is_cancelled, has_data;
} requests[REQUESTS];

/* What their attachments were told. */
static struct told {
    int completed, starting, abandoned, freed, error;
    bool is_cancelled, has_status;
} told[REQUESTS];

static atomic_int wrong; /* asserts are for one thread */

static bool is_active(MPI_Request handle)
{
    return handle != HW_REQUEST_NULL && requests[number_of(handle)].is_started;
}

static bool is_over(MPI_Request handle)
{
    return is_active(handle) && requests[number_of(handle)].is_complete;
}

static void fill(MPI_Status *status, int number, int error)
{
    /* NOLINTNEXTLINE(misc-redundant-expression): they may differ */
    if (status == MPI_STATUS_IGNORE || status == MPI_STATUSES_IGNORE)
        return;
    status->MPI_TAG = number;
    status->MPI_SOURCE = requests[number].is_cancelled;
    status->MPI_ERROR = error;
}

/* Gives it to the program. */
static int end(MPI_Request *handle, MPI_Status *status)
{
    struct request *request = &requests[number_of(*handle)];
    fill(status, number_of(*handle), request->error);
    request->completions++;
    request->given_error = request->error;
    request->given_cancelled = request->is_cancelled && !request->has_data;
    request->is_started = false;
    if (!request->is_persistent) {
        request->is_live = false;
        *handle = HW_REQUEST_NULL;
    }
    return request->error;
}

static int fake_wait(MPI_Request *handle, MPI_Status *status)
{
    return is_active(*handle) ? end(handle, status) : MPI_SUCCESS;
}

static int fake_test(MPI_Request *handle, int *flag, MPI_Status *status)
{
    *flag = is_over(*handle);
    return *flag ? end(handle, status) : MPI_SUCCESS;
}

static MPI_Status *nth(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

static int fake_waitall(int count, MPI_Request handles[], MPI_Status *statuses)
{
    bool fails = false;
    for (int i = 0; i < count; i++)
        fails = fails || (is_active(handles[i]) && requests[number_of(handles[i])].error);
    for (int i = 0; i < count; i++) {
        if (!is_active(handles[i]))
            continue;
        if (fails && !is_over(handles[i]))
            fill(nth(statuses, i), number_of(handles[i]), MPI_ERR_PENDING);
        else
            end(&handles[i], nth(statuses, i));
    }
    return fails ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

static int fake_testall(int count, MPI_Request handles[], int *flag, MPI_Status *statuses)
{
    *flag = true;
    for (int i = 0; i < count; i++)
        *flag = *flag && (!is_active(handles[i]) || is_over(handles[i]));
    return *flag ? fake_waitall(count, handles, statuses) : MPI_SUCCESS;
}

static int fake_testany(int count, MPI_Request handles[], int *index, int *flag, MPI_Status *status)
{
    *index = MPI_UNDEFINED;
    *flag = false;
    for (int i = 0; i < count; i++)
        if (is_over(handles[i])) {
            *index = i;
            *flag = true;
            return end(&handles[i], status);
        }
    return MPI_SUCCESS;
}

static int fake_waitany(int count, MPI_Request handles[], int *index, MPI_Status *status)
{
    int flag;
    return fake_testany(count, handles, index, &flag, status);
}

static int fake_some(int count, MPI_Request handles[], int *outcount, int indices[], MPI_Status *statuses)
{
    int rc = MPI_SUCCESS;
    *outcount = 0;
    for (int i = 0; i < count; i++)
        if (is_over(handles[i])) {
            if (end(&handles[i], nth(statuses, *outcount)) != MPI_SUCCESS)
                rc = MPI_ERR_IN_STATUS;
            indices[(*outcount)++] = i;
        }
    return rc;
}

/* Completes nothing; says so once more, at the door that does. */
static int fake_get_status(MPI_Request handle, int *flag, MPI_Status *status)
{
    *flag = is_over(handle);
    if (*flag)
        fill(status, number_of(handle), requests[number_of(handle)].error);
    return MPI_SUCCESS;
}

static int fake_test_cancelled(const MPI_Status *status, int *flag)
{
    *flag = status->MPI_SOURCE;
    return MPI_SUCCESS;
}

static int fake_get_count(const MPI_Status *status, MPI_Datatype type, int *count)
{
    (void)type;
    *count = requests[status->MPI_TAG].has_data ? 48 : 0;
    return MPI_SUCCESS;
}

static int fake_start(MPI_Request *handle)
{
    requests[number_of(*handle)].is_started = true;
    return MPI_SUCCESS;
}

static int fake_free(MPI_Request *handle)
{
    requests[number_of(*handle)].is_live = false;
    *handle = HW_REQUEST_NULL;
    return MPI_SUCCESS;
}

/* ---- attachments ------------------------------------------------------------------------------------------
 */

static void on_completed(void *attachment, const MPI_Status *status, int error, bool is_cancelled)
{
    struct told *me = attachment;
    me->completed++;
    me->error = error;
    me->is_cancelled = is_cancelled;
    me->has_status = status != NULL;
    if (status && status->MPI_TAG != (int)(me - told))
        wrong++;
}

static void on_starting(void *attachment) { ((struct told *)attachment)->starting++; }
static void on_freed(void *attachment) { ((struct told *)attachment)->freed++; }
static void on_abandoned(void *attachment, MPI_Request handle)
{
    struct told *me = attachment;
    me->abandoned++;
    if (number_of(handle) != (int)(me - told))
        wrong++;
}

static const struct hw_request_calls calls = {
    .completed = on_completed, .starting = on_starting, .abandoned = on_abandoned, .freed = on_freed};

static MPI_Request attach(int number, bool is_persistent, bool is_followed)
{
    requests[number] =
        (struct request){.is_live = true, .is_started = !is_persistent, .is_persistent = is_persistent};
    told[number] = (struct told){0};
    if (!hw_request_reserve())
        wrong++;
    hw_request_attach(handle_of(number), &(struct hw_request_attachment){.calls = &calls,
                                                                         .attachment = &told[number],
                                                                         .bytes = 8,
                                                                         .is_persistent = is_persistent,
                                                                         .is_followed = is_followed});
    return handle_of(number);
}

static int use_fakes(void **state)
{
    memset(told, 0, sizeof told);
    memset(requests, 0, sizeof requests);
    wrong = 0;
    hw_real.Wait = fake_wait;
    hw_real.Waitall = fake_waitall;
    hw_real.Waitany = fake_waitany;
    hw_real.Waitsome = hw_real.Testsome = fake_some;
    hw_real.Test = fake_test;
    hw_real.Testall = fake_testall;
    hw_real.Testany = fake_testany;
    hw_real.Request_get_status = hw_bottom.Request_get_status = fake_get_status;
    hw_real.Start = fake_start;
    hw_real.Request_free = fake_free;
    hw_bottom.Test_cancelled = fake_test_cancelled;
    hw_bottom.Get_count = fake_get_count;
    return start_empty(state);
}

static void unfollowed_are_nobody_elses(void **state)
{
    (void)state;
    bool has_polled;
    MPI_Request quiet = attach(0, false, false), loud = attach(1, false, true);
    assert_counts(2, 1, 1);
    assert_int_equal(atomic_load(&hw_request_attached), 2);
    requests[0].is_complete = requests[1].is_complete = true;
    hw_real_request_is_complete = NULL;
    assert_int_equal(hw_request_poll(&has_polled), 1);
    assert_counts(2, 0, 1);
    assert_int_equal(hw_wait(&quiet, MPI_STATUS_IGNORE), MPI_SUCCESS);
    assert_int_equal(hw_wait(&loud, MPI_STATUS_IGNORE), MPI_SUCCESS);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(told[i].completed, 1);
        assert_int_equal(told[i].freed, 1);
        assert_true(told[i].has_status);
    }
    assert_counts(0, 0, 0);
    assert_int_equal(atomic_load(&hw_request_attached), 0);
}

static void persistent_are_told_each_time(void **state)
{
    (void)state;
    MPI_Request request = attach(3, true, false);
    int flag;
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(hw_start(&request), MPI_SUCCESS);
        assert_int_equal(told[3].starting, i);
        assert_counts(1, 0, 0);
        requests[3].is_complete = false;
        assert_int_equal(hw_test(&request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
        assert_int_equal(told[3].completed, i - 1);
        requests[3].is_complete = true;
        if (i == 2) {
            assert_int_equal(hw_request_get_status(request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
            assert_int_equal(told[3].completed, i);
        }
        assert_int_equal(hw_test(&request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
        assert_int_equal(told[3].completed, i);
    }
    assert_int_equal(told[3].freed, 0);
    assert_int_equal(hw_request_free(&request), MPI_SUCCESS);
    assert_int_equal(told[3].freed, 1);
    assert_int_equal(told[3].abandoned, 0);
    assert_counts(0, 0, 0);
}

static void freed_while_active(void **state)
{
    (void)state;
    MPI_Request request = attach(5, false, true);
    assert_int_equal(hw_request_free(&request), MPI_SUCCESS);
    assert_true(request == HW_REQUEST_NULL);
    assert_true(requests[5].is_live); /* the real call is theirs to make */
    assert_int_equal(told[5].abandoned, 1);
    assert_int_equal(told[5].freed, 0);
    assert_counts(0, 0, 0);
}

static void asked_and_completed_is_told_once(void **state)
{
    (void)state;
    MPI_Request request = attach(6, false, false);
    int flag;
    assert_int_equal(hw_request_get_status(request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    assert_int_equal(told[6].completed, 0);
    requests[6].is_complete = true;
    assert_int_equal(hw_request_get_status(request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    assert_int_equal(told[6].completed, 1);
    assert_int_equal(hw_wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    assert_int_equal(told[6].completed, 1);
    assert_int_equal(told[6].freed, 1);
}

static void nested_doors_go_to_the_hook(void **state)
{
    (void)state;
    struct hw_request_taken taken;
    MPI_Request both[] = {attach(1, false, true), handle_of(2)};
    assert_true(hw_request_post(both[1], HW_REQUEST_P2P, 1));
    assert_counts(2, 2, 2);
    assert_true(hw_request_forget(2, both));
    assert_counts(2, 0, 0);
    assert_true(hw_request_take(2, both, &taken));
    assert_false(hw_request_forget(2, both)); /* the door's own call, come back */
    hw_request_mark_complete(&taken, 0, NULL, MPI_SUCCESS);
    assert_int_equal(hw_request_return(&taken, both), 0);
    assert_int_equal(told[1].completed, 1);
    assert_false(hw_request_forget(2, both));
    assert_counts(0, 0, 0);
}

static void a_handle_used_again_frees_what_it_had(void **state)
{
    (void)state;
    attach(4, false, true);
    assert_true(hw_request_reserve());
    hw_request_give_back();
    assert_true(hw_request_post(handle_of(4), HW_REQUEST_P2P, 1));
    assert_int_equal(told[4].freed, 1);
    assert_int_equal(told[4].completed, 0);
    assert_counts(1, 1, 1);
}

/* ---- a handle that the MPI gives out again, while the door of the thread that completes the one before has
 * still to tell that one's attachment ---- */

/* Takes a request that is complete, and whose handle is the MPI's again. */
static void begin_door(struct hw_request_taken *taken, int number, MPI_Status *status)
{
    MPI_Request request = attach(number, false, false);
    requests[number].is_complete = true;
    assert_true(hw_request_take(1, &request, taken));
    assert_int_equal(fake_wait(&request, status), MPI_SUCCESS);
    hw_request_mark_complete(taken, 0, status, MPI_SUCCESS);
}

static void end_door(struct hw_request_taken *taken, int number)
{
    MPI_Request after = HW_REQUEST_NULL;
    assert_int_equal(told[number].completed + told[number].freed + told[number].abandoned, 0);
    hw_request_return(taken, &after);
    assert_int_equal(told[number].completed, 1);
    assert_int_equal(told[number].freed, 1);
    assert_true(told[number].has_status);
    assert_int_equal(wrong, 0);
}

static void given_out_again_to_one_entered(void **state)
{
    (void)state;
    static const struct hw_request_calls other_calls = {.freed = on_freed};
    const struct hw_request_attachment other = {.calls = &other_calls, .attachment = &told[8]};
    struct hw_request_taken taken;
    MPI_Status status;
    begin_door(&taken, 7, &status);
    assert_true(hw_request_post(handle_of(7), HW_REQUEST_P2P, 1));
    end_door(&taken, 7);
    assert_counts(1, 1, 1);
    begin_door(&taken, 7, &status);
    assert_true(hw_request_reserve());
    hw_request_attach(handle_of(7), &other);
    end_door(&taken, 7);
    assert_int_equal(told[8].freed, 0);
    assert_counts(1, 0, 0);
}

/* Its post may say so or not: many make the real call alone. */
static void given_out_again_to_one_left_out(void **state)
{
    (void)state;
    struct hw_request_taken taken, other;
    MPI_Request request = handle_of(7);
    MPI_Status status;
    for (int is_told = 0; is_told < 2; is_told++) {
        begin_door(&taken, 7, &status);
        if (is_told)
            hw_request_leave_out(request);
        assert_false(hw_request_take(1, &request, &other));
        end_door(&taken, 7);
        assert_counts(0, 0, 0);
    }
}

static void given_out_again_and_freed(void **state)
{
    (void)state;
    struct hw_request_taken taken;
    MPI_Status status;
    MPI_Request request = handle_of(7);
    begin_door(&taken, 7, &status);
    requests[7].is_live = true;
    assert_int_equal(hw_request_free(&request), MPI_SUCCESS);
    assert_false(requests[7].is_live); /* by the MPI */
    end_door(&taken, 7);
    begin_door(&taken, 7, &status);
    request = handle_of(7);
    hw_request_drop(1, &request);
    end_door(&taken, 7);
    assert_counts(0, 0, 0);
}

static MPI_Request attach_guarded(int number)
{
    static const struct hw_request_guard guard;
    static const struct hw_request_calls guarded_calls = {
        .completed = on_completed, .freed = on_freed, .guard = &guard};
    assert_true(hw_request_reserve());
    hw_request_attach(handle_of(number),
                      &(struct hw_request_attachment){.calls = &guarded_calls, .attachment = &told[number]});
    return handle_of(number);
}

/* A cancel of such a one has to go to the MPI. */
static void given_out_again_to_a_small_persistent_one(void **state)
{
    (void)state;
    struct hw_request_taken taken, other;
    MPI_Status status = {.MPI_TAG = 9};
    MPI_Request request = attach_guarded(9);
    assert_true(hw_request_take(1, &request, &taken));
    hw_request_mark_complete(&taken, 0, &status, MPI_SUCCESS);
    hw_persistent_posted(1, MPI_CHAR, 0, false, &request);
    assert_false(hw_request_borrow(1, &request, &other));
    assert_null(other.elsewhere);
    end_door(&taken, 9);
    assert_counts(0, 0, 0);
}

/* A thread that cancels what another one waits for ends its call after that one, with the same variable. */
static void cancelled_and_completed_is_told_once(void **state)
{
    (void)state;
    struct hw_request_taken by_cancel, by_wait;
    MPI_Status status = {.MPI_TAG = 9};
    MPI_Request request = attach_guarded(9);
    assert_true(hw_request_borrow(1, &request, &by_cancel));
    assert_true(hw_request_take(1, &request, &by_wait));
    request = HW_REQUEST_NULL;
    hw_request_mark_complete(&by_wait, 0, &status, MPI_SUCCESS);
    hw_request_return(&by_wait, &request);
    hw_request_return(&by_cancel, &request);
    assert_int_equal(told[9].completed, 1);
    assert_int_equal(told[9].freed, 1);
    assert_counts(0, 0, 0);
}

/* ---- random programs
 * ---------------------------------------------------------------------------------------
 */

static void call_door(unsigned door, int count, MPI_Request *handles, MPI_Status *statuses)
{
    int flag, index, outcount, indices[REQUESTS];
    MPI_Status *status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses;
    switch (door) {
    case 0:
        hw_wait(handles, status);
        break;
    case 1:
        hw_waitall(count, handles, statuses);
        break;
    case 2:
        hw_waitany(count, handles, &index, status);
        break;
    case 3:
        hw_waitsome(count, handles, &outcount, indices, statuses);
        break;
    case 4:
        hw_test(handles, &flag, status);
        break;
    case 5:
        hw_testall(count, handles, &flag, statuses);
        break;
    case 6:
        hw_testany(count, handles, &index, &flag, status);
        break;
    default:
        hw_testsome(count, handles, &outcount, indices, statuses);
    }
}

/* Whether what the attachment was told is what the program has had, and no less. */
static void compare(int number)
{
    const struct request *request = &requests[number];
    const struct told *was = &told[number];
    wrong += was->completed != request->completions;
    wrong += request->completions > 0 && (was->error != request->given_error ||
                                          was->is_cancelled != request->given_cancelled || !was->has_status);
    wrong += was->freed != (request->is_persistent ? 0 : request->completions);
    wrong += was->starting > 0 && !request->is_persistent;
}

static void random_rounds(int first, int count, uint32_t seed, int rounds)
{
    MPI_Request handles[REQUESTS];
    MPI_Status statuses[REQUESTS];
    for (int i = 0; i < count; i++)
        handles[i] = HW_REQUEST_NULL;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < count; i++) {
            struct request *request = &requests[first + i];
            if (handles[i] == HW_REQUEST_NULL)
                handles[i] = attach(first + i, random_next(&seed) % 3 == 0, random_next(&seed) % 2);
            if (!request->is_started) {
                hw_start(&handles[i]);
                request->is_complete = false;
            }
            request->is_complete = random_next(&seed) % 2;
            request->is_cancelled = random_next(&seed) % 8 == 0;
            request->has_data = random_next(&seed) % 2 == 0; /* Intel MPI says so of these, too */
            request->error = random_next(&seed) % 8 == 0 ? FAILS : MPI_SUCCESS;
        }
        unsigned how = random_next(&seed) % 2;
        call_door(random_next(&seed) % 8, count, handles, how ? statuses : MPI_STATUSES_IGNORE);
        for (int i = 0; i < count; i++)
            compare(first + i);
    }
    for (int i = 0; i < count; i++)
        requests[first + i].error = MPI_SUCCESS;
    hw_waitall(count, handles, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; i++)
        if (handles[i] != HW_REQUEST_NULL)
            hw_request_free(&handles[i]);
}

static void random_programs(void **state)
{
    (void)state;
    random_rounds(0, REQUESTS, 4711, 2000);
    random_rounds(0, 5, 4712, 2000);
    assert_int_equal(wrong, 0);
    assert_counts(0, 0, 0);
}

static void *thread(void *of)
{
    int number = *(int *)of;
    hw_inside_enter(&hw_inside);
    random_rounds(number * EACH_THREAD, EACH_THREAD, 99 + (uint32_t)number, 1000);
    hw_inside_leave(&hw_inside);
    return of;
}

static void threads_with_requests_of_their_own(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, thread, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(wrong, 0);
    assert_counts(0, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(unfollowed_are_nobody_elses, use_fakes),
        cmocka_unit_test_setup(persistent_are_told_each_time, use_fakes),
        cmocka_unit_test_setup(freed_while_active, use_fakes),
        cmocka_unit_test_setup(asked_and_completed_is_told_once, use_fakes),
        cmocka_unit_test_setup(nested_doors_go_to_the_hook, use_fakes),
        cmocka_unit_test_setup(a_handle_used_again_frees_what_it_had, use_fakes),
        cmocka_unit_test_setup(given_out_again_to_one_entered, use_fakes),
        cmocka_unit_test_setup(given_out_again_to_one_left_out, use_fakes),
        cmocka_unit_test_setup(given_out_again_and_freed, use_fakes),
        cmocka_unit_test_setup(given_out_again_to_a_small_persistent_one, use_fakes),
        cmocka_unit_test_setup(cancelled_and_completed_is_told_once, use_fakes),
        cmocka_unit_test_setup(random_programs, use_fakes),
        cmocka_unit_test_setup(threads_with_requests_of_their_own, use_fakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
