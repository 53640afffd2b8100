/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: taking turns in MPI: the progress thread and threads of the program are never inside together,
 * with membarrier and without; who waits is seen and woken; a forked child's gate is open. */
#include "forbidden.h"
#include "progress/gate.h"
#include "progress/inside.h"
#include "real/table.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#ifdef __SANITIZE_THREAD__ /* which sees at once what others see by chance, and takes its time */
enum { PROGRAM_THREADS = 2, TURNS = 1000, CALLS = 2000 };
#else
enum { PROGRAM_THREADS = 2, TURNS = 20000, CALLS = 20000 };
#endif

/* What an MPI without locks is: wrong if two are in it at once. Not atomic, so that the thread sanitizer sees
 * it as well. */
static volatile uint64_t state_of_mpi[2];
static atomic_int programs_running, turns;
static pthread_mutex_t program_lock = PTHREAD_MUTEX_INITIALIZER; /* MPI_THREAD_SERIALIZED */

static void use_mpi(void)
{
    uint64_t seen = state_of_mpi[0];
    state_of_mpi[1]++;
    state_of_mpi[0] = seen + 1;
}

static void *program(void *unused)
{
    hw_inside_register(&hw_inside);
    for (int i = 0; i < CALLS || atomic_load(&turns) < TURNS; i++) {
        pthread_mutex_lock(&program_lock);
        hw_inside_enter(&hw_inside);
        use_mpi();
        hw_inside_leave(&hw_inside);
        pthread_mutex_unlock(&program_lock);
        if (i % 64 == 0)
            sched_yield();
    }
    atomic_fetch_sub(&programs_running, 1);
    return unused;
}

/* As the progress thread does. */
static void *agent(void *unused)
{
    hw_inside_mark_own_thread();
    while (atomic_load(&programs_running) > 0) {
        if (!hw_gate_close()) {
            sched_yield();
            continue;
        }
        for (int polls = 0; polls < 8 && !hw_inside_any(); polls++)
            use_mpi();
        hw_gate_open();
        atomic_fetch_add(&turns, 1);
    }
    return unused;
}

/* Two threads of a program against the progress thread; true if none was inside beside another. */
static int take_turns(void)
{
    pthread_t threads[PROGRAM_THREADS], own;
    atomic_store(&turns, 0);
    state_of_mpi[0] = state_of_mpi[1] = 0;
    atomic_store(&programs_running, PROGRAM_THREADS);
    if (pthread_create(&own, NULL, agent, NULL) != 0)
        return 0;
    for (int i = 0; i < PROGRAM_THREADS; i++)
        if (pthread_create(&threads[i], NULL, program, NULL) != 0)
            return 0;
    for (int i = 0; i < PROGRAM_THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_join(own, NULL);
    /* Each turn polls at least once, unless somebody came meanwhile. */
    return state_of_mpi[0] == state_of_mpi[1] && state_of_mpi[0] > (uint64_t)PROGRAM_THREADS * CALLS;
}

static void nobody_is_inside_together(void **state)
{
    (void)state;
    hw_gate_prepare();
    assert_int_equal(atomic_load(&hw_gate), 0);
    assert_true(take_turns());
    assert_int_equal(atomic_load(&hw_gate), 0);
}

static bool forbid_membarrier(void)
{
    return forbid(SYS_membarrier) && syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) != 0;
}

static void nor_without_membarrier(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        if (!forbid_membarrier())
            _exit(2);
        hw_gate_prepare();
        _exit(atomic_load(&hw_gate) != 0 && take_turns() && atomic_load(&hw_gate) != 0 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void no_turn_while_the_program_is_inside(void **state)
{
    (void)state;
    hw_inside_register(&hw_inside);
    hw_inside_enter(&hw_inside);
    assert_false(hw_gate_close());
    assert_int_equal(atomic_load(&hw_gate), 0);
    hw_inside_leave(&hw_inside);
    assert_true(hw_gate_close());
    hw_gate_open();
}

static void *enter_once(void *is_through)
{
    hw_inside_register(&hw_inside);
    hw_inside_enter(&hw_inside);
    sem_post(is_through);
    hw_inside_leave(&hw_inside);
    return NULL;
}

static void who_waits_is_seen_and_woken(void **state)
{
    (void)state;
    sem_t is_through;
    pthread_t thread;
    sem_init(&is_through, 0, 0);
    assert_true(hw_gate_close());
    assert_int_equal(pthread_create(&thread, NULL, enter_once, &is_through), 0);
    while (!hw_inside_any())
        sched_yield();
    while (atomic_load(&hw_gate) == 1) /* until it sleeps */
        sched_yield();
    assert_int_equal(sem_trywait(&is_through), -1);
    assert_true(hw_gate_close()); /* it waits, so it is not in MPI and no reason against another turn */
    assert_int_equal(sem_trywait(&is_through), -1);
    hw_gate_open();
    assert_int_equal(sem_wait(&is_through), 0);
    pthread_join(thread, NULL);
}

static void gate_of_a_child_is_open(void **state)
{
    (void)state;
    assert_true(hw_gate_close());
    pid_t child = fork();
    if (child == 0) {
        hw_inside_enter(&hw_inside);
        hw_inside_leave(&hw_inside);
        _exit(atomic_load(&hw_gate) != 0);
    }
    hw_gate_open();
    int status = -1;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    hw_real_pretend_loaded();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_is_inside_together),
        cmocka_unit_test(nor_without_membarrier),
        cmocka_unit_test(no_turn_while_the_program_is_inside),
        cmocka_unit_test(who_waits_is_seen_and_woken),
        cmocka_unit_test(gate_of_a_child_is_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
