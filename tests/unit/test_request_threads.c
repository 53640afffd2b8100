/* Description: the pending tracker between threads: doors and the progress thread's poll at the same time, a
 * poll that is slow to come back, fork, and requests completed from a callback. */
#include "request_tests.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

/* A poll that stays in the MPI until it is let go. */
static sem_t poll_is_there, poll_may_go;
static atomic_bool is_in_poll, is_late_complete;

static int answer_late(MPI_Request request, int *flag, MPI_Status *status)
{
    (void)request, (void)status;
    atomic_store(&is_in_poll, true);
    sem_post(&poll_is_there);
    sem_wait(&poll_may_go);
    atomic_store(&is_in_poll, false);
    *flag = atomic_load(&is_late_complete);
    return MPI_SUCCESS;
}

static void *poll_once(void *unused)
{
    bool has_polled;
    (void)unused;
    return (void *)(uintptr_t)hw_request_poll(&has_polled);
}

static pthread_t start_late_poll(void)
{
    pthread_t thread;
    sem_init(&poll_is_there, 0, 0);
    sem_init(&poll_may_go, 0, 0);
    hw_bottom.Request_get_status = answer_late;
    assert_int_equal(pthread_create(&thread, NULL, poll_once, NULL), 0);
    sem_wait(&poll_is_there);
    return thread;
}

static void *let_go_later(void *unused)
{
    (void)unused;
    usleep(20000);
    sem_post(&poll_may_go);
    return NULL;
}

static void door_waits_for_a_poll_of_its_request(void **state)
{
    (void)state;
    MPI_Request requests[] = {handle_of(1), handle_of(2)};
    struct hw_request_taken taken;
    hw_request_post(requests[0], HW_REQUEST_P2P, 1);
    pthread_t poller = start_late_poll(), other;
    hw_request_post(requests[1], HW_REQUEST_P2P, 1);
    assert_true(hw_request_take(1, &requests[1], &taken)); /* another request: no wait */
    assert_true(atomic_load(&is_in_poll));
    hw_request_return(&taken, &requests[1]);
    pthread_create(&other, NULL, let_go_later, NULL);
    assert_true(hw_request_take(2, requests, &taken));
    assert_false(atomic_load(&is_in_poll));
    assert_int_equal(taken.count, 2);
    pthread_join(poller, NULL);
    pthread_join(other, NULL);
    assert_int_equal(hw_request_return(&taken, requests), 2);
    assert_counts(2, 2, 2);
}

static void free_waits_for_a_poll_in_flight(void **state)
{
    (void)state;
    MPI_Request request = handle_of(1);
    hw_request_post(request, HW_REQUEST_P2P, 1);
    pthread_t poller = start_late_poll(), other;
    pthread_create(&other, NULL, let_go_later, NULL);
    hw_request_drop(1, &request);
    assert_false(atomic_load(&is_in_poll));
    pthread_join(poller, NULL);
    pthread_join(other, NULL);
    assert_counts(0, 0, 0);
}

/* The poll's answer is about the handle's former operation. */
static void posted_again_during_a_poll(void **state)
{
    (void)state;
    MPI_Request request = handle_of(1);
    hw_request_post(request, HW_REQUEST_P2P, 1);
    pthread_t poller = start_late_poll();
    hw_request_post(request, HW_REQUEST_P2P, 1);
    atomic_store(&is_late_complete, true);
    sem_post(&poll_may_go);
    sem_wait(&poll_is_there); /* and the poll goes on with the new one */
    atomic_store(&is_late_complete, false);
    assert_counts(1, 1, 1);
    sem_post(&poll_may_go);
    pthread_join(poller, NULL);
    assert_counts(1, 1, 1);
}

/* ---- a progress thread and doors at the same time
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
    (void)unused;
    while (!atomic_load(&is_over))
        hw_request_poll(&has_polled);
    return NULL;
}

/* One door over a thread's own requests; some complete, and are posted again with the same handle. */
static void door_round(int first, MPI_Request *requests, uint32_t *seed)
{
    struct hw_request_taken taken;
    int count = 1 + (int)(random_next(seed) % HANDLES_EACH);
    for (int i = 0; i < HANDLES_EACH; i++) {
        if (requests[i] != HW_REQUEST_NULL)
            continue;
        requests[i] = handle_of(first + i);
        atomic_store(&is_live[first + i], true);
        if (!hw_request_post(requests[i], HW_REQUEST_P2P, 1))
            atomic_fetch_add(&violations, 1);
    }
    if (random_next(seed) % 4 == 0)
        sched_yield();
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
}

static void *door_thread(void *argument)
{
    int first = (int)(uintptr_t)argument * HANDLES_EACH;
    uint32_t seed = 1 + (uint32_t)first;
    MPI_Request requests[HANDLES_EACH];
    for (int i = 0; i < HANDLES_EACH; i++)
        requests[i] = HW_REQUEST_NULL;
    for (int round = 0; round < DOOR_ROUNDS; round++) {
        door_round(first, requests, &seed);
        if (round % 16 == 0) { /* MPI_Request_free */
            hw_request_drop(1, requests);
            atomic_store(&is_live[first], false);
            requests[0] = HW_REQUEST_NULL;
        }
    }
    hw_request_drop(HANDLES_EACH, requests);
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

/* ---- completed from a callback: polls are off from here on, so this is the last test
 * ------------------------------- */

static int answer_incomplete(MPI_Request request, int *flag, MPI_Status *status)
{
    (void)request, (void)status;
    *flag = 0;
    return MPI_SUCCESS;
}

/* No poll is in flight once asking is forbidden, and none comes until it is allowed again. */
static void nobody_asks_where_errors_would_be_raised(void **state)
{
    (void)state;
    MPI_Request request = handle_of(1);
    bool has_polled;
    hw_bottom.Request_get_status = answer_incomplete;
    hw_request_post(request, HW_REQUEST_P2P, 1);
    hw_request_allow_asking(false);
    assert_int_equal(hw_request_poll(&has_polled), 0);
    assert_false(has_polled);
    assert_counts(1, 1, 1);
    hw_request_allow_asking(true);
    hw_request_poll(&has_polled);
    assert_true(has_polled);
    hw_request_drop(1, &request);
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
    hw_bottom.Request_get_status = answer_incomplete;
    hw_request_poll(&has_polled);
    assert_true(has_polled); /* and polls go on */
    hw_request_drop(1, requests);

    hw_request_post(requests[1], HW_REQUEST_P2P, 1);
    pthread_t poller = start_late_poll();
    hw_request_forget(3, requests); /* comes back although the poll does not */
    assert_true(atomic_load(&is_in_poll));
    assert_counts(0, 0, 0);
    sem_post(&poll_may_go);
    pthread_join(poller, NULL);
    assert_counts(0, 0, 0); /* the poll's end does not bring it back */

    hw_request_post(requests[2], HW_REQUEST_P2P, 1);
    assert_int_equal(hw_request_poll(&has_polled), 0);
    assert_false(has_polled);
    assert_counts(1, 1, 1);
}

int main(void)
{
    hw_real_pretend_loaded();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(door_waits_for_a_poll_of_its_request, start_empty),
        cmocka_unit_test_setup(free_waits_for_a_poll_in_flight, start_empty),
        cmocka_unit_test_setup(posted_again_during_a_poll, start_empty),
        cmocka_unit_test_setup(nobody_touches_what_a_door_holds, start_empty),
        cmocka_unit_test_setup(child_forgets_everything, start_empty),
        cmocka_unit_test_setup(nobody_asks_where_errors_would_be_raised, start_empty),
        cmocka_unit_test_setup(forgotten_from_inside_mpi, start_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
