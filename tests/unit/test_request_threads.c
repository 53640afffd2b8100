/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the pending tracker between threads: doors and the progress thread in turns, fork, and
 * requests completed from a callback. */
#include "progress/gate.h"
#include "progress/inside.h"
#include "request_tests.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a progress thread and doors, in turns
 * ------------------------------------------------------------- */

enum { DOOR_THREADS = 4, HANDLES_EACH = 12, DOOR_ROUNDS = 4000 };

/* Of each handle: the MPI has such a request, a door may be in the MPI with it, a poll is. */
static atomic_bool is_live[DOOR_THREADS * HANDLES_EACH], is_held[DOOR_THREADS * HANDLES_EACH],
    is_polled[DOOR_THREADS * HANDLES_EACH];
static atomic_int violations, poll_count;
static atomic_bool is_over;

static int answer_strictly(MPI_Request request, int *flag, MPI_Status *status)
{
    static uint32_t seed = 77; /* one poll at a time */
    int number = number_of(request);
    (void)status;
    atomic_store(&is_polled[number], true);
    if (atomic_load(&is_held[number]) || !atomic_load(&is_live[number]))
        atomic_fetch_add(&violations, 1);
    if (random_next(&seed) % 8 == 0)
        sched_yield();
    if (atomic_load(&is_held[number]) || !atomic_load(&is_live[number]))
        atomic_fetch_add(&violations, 1);
    atomic_store(&is_polled[number], false);
    atomic_fetch_add(&poll_count, 1);
    *flag = random_next(&seed) % 3 == 0;
    return MPI_SUCCESS;
}

static void *poll_until_over(void *unused)
{
    bool has_polled;
    hw_inside_mark_own_thread();
    while (!atomic_load(&is_over)) {
        if (!hw_gate_close())
            continue;
        hw_request_poll(&has_polled);
        hw_gate_open();
    }
    return unused;
}

/* One entry after the other: a post, and a door over a thread's own requests; some complete, and are posted
 * again with the same handle. */
static void door_round(struct hw_inside *inside, int first, MPI_Request *requests, uint32_t *seed)
{
    struct hw_request_taken taken;
    int count = 1 + (int)(random_next(seed) % HANDLES_EACH);
    hw_inside_enter(inside);
    for (int i = 0; i < HANDLES_EACH; i++) {
        if (requests[i] != HW_REQUEST_NULL)
            continue;
        requests[i] = handle_of(first + i);
        atomic_store(&is_live[first + i], true);
        if (!hw_request_post(requests[i], HW_REQUEST_P2P, 1))
            atomic_fetch_add(&violations, 1);
    }
    hw_inside_leave(inside);
    if (random_next(seed) % 4 == 0)
        sched_yield();
    hw_inside_enter(inside);
    if (!hw_request_take(count, requests, &taken) || taken.count != count)
        atomic_fetch_add(&violations, 1);
    for (int i = 0; i < count; i++) {
        atomic_store(&is_held[first + i], true);
        if (atomic_load(&is_polled[first + i]))
            atomic_fetch_add(&violations, 1);
    }
    if (random_next(seed) % 4 == 0)
        sched_yield();
    for (int i = 0; i < count; i++) {
        if (random_next(seed) % 2) {
            atomic_store(&is_live[first + i], false);
            requests[i] = HW_REQUEST_NULL;
        }
        atomic_store(&is_held[first + i], false);
    }
    hw_request_return(&taken, requests);
    hw_inside_leave(inside);
}

static void *door_thread(void *argument)
{
    /* Not known to be an address: ld makes `lea` of the `add` whose flags gcc's null check looks at. */
    struct hw_inside *volatile own = &hw_inside;
    struct hw_inside *inside = own;
    int first = (int)(uintptr_t)argument * HANDLES_EACH;
    uint32_t seed = 1 + (uint32_t)first;
    MPI_Request requests[HANDLES_EACH];
    for (int i = 0; i < HANDLES_EACH; i++)
        requests[i] = HW_REQUEST_NULL;
    hw_inside_register(inside);
    for (int round = 0; round < DOOR_ROUNDS; round++) {
        door_round(inside, first, requests, &seed);
        if (round % 16 == 0) { /* MPI_Request_free */
            hw_inside_enter(inside);
            hw_request_drop(1, requests);
            atomic_store(&is_live[first], false);
            requests[0] = HW_REQUEST_NULL;
            hw_inside_leave(inside);
        }
    }
    hw_inside_enter(inside);
    hw_request_drop(HANDLES_EACH, requests);
    hw_inside_leave(inside);
    return NULL;
}

static void nobody_touches_what_a_door_holds(void **state)
{
    (void)state;
    pthread_t poller, doors[DOOR_THREADS];
    hw_bottom.Request_get_status = answer_strictly;
    atomic_store(&is_over, false);
    pthread_create(&poller, NULL, poll_until_over, NULL);
    for (uintptr_t i = 0; i < DOOR_THREADS; i++)
        pthread_create(&doors[i], NULL, door_thread, (void *)i);
    for (int i = 0; i < DOOR_THREADS; i++)
        pthread_join(doors[i], NULL);
    atomic_store(&is_over, true);
    pthread_join(poller, NULL);
    assert_int_equal(atomic_load(&violations), 0);
    assert_true(atomic_load(&poll_count) > 0);
    assert_counts(0, 0, 0);
}

/* ---- fork
 * -------------------------------------------------------------------------------------------------------- */

static bool child_has_a_fresh_tracker(void)
{
    MPI_Request request = handle_of(900);
    struct hw_request_taken taken;
    bool is_empty = atomic_load(&hw_request_known) == 0 && atomic_load(&hw_request_pending) == 0;
    bool works = hw_request_post(request, HW_REQUEST_P2P, 1) && hw_request_take(1, &request, &taken) &&
                 hw_request_return(&taken, &request) == 1;
    hw_request_drop(1, &request);
    return is_empty && works && atomic_load(&hw_request_known) == 0;
}

/* While another thread polls: the child must find no lock held. */
static void child_forgets_everything(void **state)
{
    (void)state;
    pthread_t poller;
    MPI_Request request = handle_of(1);
    atomic_store(&is_live[1], true);
    hw_request_post(request, HW_REQUEST_P2P, 1);
    hw_bottom.Request_get_status = answer_strictly;
    atomic_store(&is_over, false);
    pthread_create(&poller, NULL, poll_until_over, NULL);
    for (int i = 0; i < 20; i++) {
        int status = -1;
        hw_request_fork_prepare();
        pid_t child = fork();
        hw_request_fork_release();
        if (child == 0) {
            hw_request_fork_child();
            _exit(child_has_a_fresh_tracker() ? 0 : 1);
        }
        waitpid(child, &status, 0);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        assert_int_equal(atomic_load(&hw_request_known), 1);
    }
    atomic_store(&is_over, true);
    pthread_join(poller, NULL);
    hw_request_drop(1, &request);
    assert_counts(0, 0, 0);
}

static void nothing(void *attachment) { (void)attachment; }

static const struct hw_request_calls visited = {.freed = nothing};

/* With the lock held. The thread sanitizer does not see that the child makes it anew. */
static void fork_there(void *attachment, void *child)
{
    (void)attachment;
    hw_request_fork_prepare();
    pid_t forked = fork();
    hw_request_fork_release();
    if (forked == 0) {
        hw_request_fork_child();
#ifdef __SANITIZE_THREAD__
        _exit(atomic_load(&hw_request_known) == 0 ? 0 : 1);
#else
        _exit(child_has_a_fresh_tracker() ? 0 : 1);
#endif
    }
    *(pid_t *)child = forked;
}

/* As a handler of a signal that came there may: nobody waits for himself. */
static void forked_where_the_tracker_is_locked(void **state)
{
    (void)state;
    enum { PATIENCE_S = 60 };
    MPI_Request request = handle_of(1);
    pid_t child = -1;
    int status = -1;
    alarm(PATIENCE_S);
    assert_true(hw_request_reserve());
    hw_request_attach(request, &(struct hw_request_attachment){.calls = &visited});
    hw_request_visit(&visited, fork_there, &child);
    assert_true(child > 0);
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(atomic_load(&hw_request_known), 1);
    hw_request_drop(1, &request); /* the lock is given back */
    assert_int_equal(atomic_load(&hw_request_known), 0);
    alarm(0);
}

/* ---- what the thread may ask, and completion from a callback
 * ------------------------------------------------- */

static int answer_incomplete(MPI_Request request, int *flag, MPI_Status *status)
{
    (void)request, (void)status;
    *flag = 0;
    return MPI_SUCCESS;
}

static void nobody_asks_where_errors_would_be_raised(void **state)
{
    (void)state;
    MPI_Request request = handle_of(1);
    bool has_polled;
    hw_bottom.Request_get_status = answer_incomplete;
    hw_request_post(request, HW_REQUEST_P2P, 1);
    hw_request_allow_asking(HW_REQUEST_ASK_NOT);
    assert_int_equal(hw_request_poll(&has_polled), 0);
    assert_false(has_polled);
    assert_counts(1, 1, 1);
    hw_request_allow_asking(HW_REQUEST_ASK);
    hw_request_poll(&has_polled);
    assert_true(has_polled);
    hw_request_drop(1, &request);
}

/* A callback of the program, in the progress thread's turn, frees the request that is asked about. */
static int answer_and_free(MPI_Request request, int *flag, MPI_Status *status)
{
    (void)status;
    hw_request_forget(1, &request);
    *flag = 1;
    return MPI_SUCCESS;
}

static void forgotten_from_inside_mpi(void **state)
{
    (void)state;
    MPI_Request requests[] = {handle_of(1), handle_of(2), handle_of(3)};
    struct hw_request_taken taken;
    bool has_polled;
    hw_request_post(requests[0], HW_REQUEST_P2P, 1);
    hw_request_take(1, &requests[0], &taken);
    hw_request_forget(1, requests); /* the door's own call, come back through a tool below: it stays */
    assert_counts(1, 0, 1);
    hw_request_return(&taken, requests);
    hw_bottom.Request_get_status = answer_and_free;
    assert_int_equal(hw_request_poll(&has_polled), 1);
    assert_counts(0, 0, 0); /* the poll's end does not bring it back */
    hw_request_post(requests[1], HW_REQUEST_P2P, 1);
    hw_request_forget(3, requests); /* unknown ones are left alone */
    assert_counts(0, 0, 0);
    hw_bottom.Request_get_status = answer_incomplete;
    hw_request_post(requests[2], HW_REQUEST_P2P, 1);
    hw_request_poll(&has_polled);
    assert_true(has_polled); /* polls go on */
    hw_request_drop(1, &requests[2]);
}

int main(void)
{
    hw_real_pretend_loaded();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nobody_touches_what_a_door_holds, start_empty),
        cmocka_unit_test_setup(child_forgets_everything, start_empty),
        cmocka_unit_test_setup(forked_where_the_tracker_is_locked, start_empty),
        cmocka_unit_test_setup(nobody_asks_where_errors_would_be_raised, start_empty),
        cmocka_unit_test_setup(forgotten_from_inside_mpi, start_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
