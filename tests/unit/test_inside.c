/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: who is inside MPI: registration at the first call, the depth guard, threads that end, threads
 * of our own, forked children. */
#include "progress/inside.h"
#include "real/table.h"

#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct stage {
    sem_t is_there;
    sem_t may_go;
};

static void stage_open(struct stage *stage)
{
    sem_init(&stage->is_there, 0, 0);
    sem_init(&stage->may_go, 0, 0);
}

static void *enter_and_stay(void *argument)
{
    struct stage *stage = argument;
    hw_inside_register(&hw_inside);
    hw_inside_enter(&hw_inside);
    sem_post(&stage->is_there);
    sem_wait(&stage->may_go);
    return NULL; /* ends inside MPI, as a thread does that exits from a callback */
}

static void first_call_registers(void **state)
{
    (void)state;
    assert_int_equal(hw_inside_depth(&hw_inside), HW_INSIDE_UNREGISTERED);
    assert_true(hw_inside_register(&hw_inside));
    assert_int_equal(hw_inside_depth(&hw_inside), HW_INSIDE_NO);
    assert_false(hw_inside_any());
}

static void nested_call_is_seen(void **state)
{
    (void)state;
    hw_inside_enter(&hw_inside);
    assert_true(hw_inside_any());
    assert_false(hw_inside_register(&hw_inside));
    hw_inside_leave(&hw_inside);
    assert_false(hw_inside_any());
}

static void ended_thread_is_forgotten(void **state)
{
    (void)state;
    struct stage stage;
    pthread_t thread;
    stage_open(&stage);
    assert_int_equal(pthread_create(&thread, NULL, enter_and_stay, &stage), 0);
    sem_wait(&stage.is_there);
    assert_true(hw_inside_any());
    sem_post(&stage.may_go);
    pthread_join(thread, NULL);
    assert_false(hw_inside_any());
}

static void *call_as_own_thread(void *argument)
{
    (void)argument;
    hw_inside_mark_own_thread();
    /* Every entry passes straight through, and nobody takes us for the program. */
    return (void *)(uintptr_t)(!hw_inside_register(&hw_inside) && !hw_inside_any());
}

static void own_thread_is_not_the_program(void **state)
{
    (void)state;
    pthread_t thread;
    void *is_right = NULL;
    assert_int_equal(pthread_create(&thread, NULL, call_as_own_thread, NULL), 0);
    pthread_join(thread, &is_right);
    assert_non_null(is_right);
}

static int payments;
static bool was_inside_when_paid;

static void pay(void)
{
    payments++;
    was_inside_when_paid = hw_inside_depth(&hw_inside) == HW_INSIDE_YES;
}

/* Calls that go on without leave the debt for the next; any other pays it first, once, inside MPI. A forked
 * child owes nothing. */
static void what_is_owed_is_paid_by_the_next_call(void **state)
{
    (void)state;
    hw_inside_register(&hw_inside);
    hw_inside_enter(&hw_inside);
    hw_inside_owe(pay);
    hw_inside_leave_owing(&hw_inside);
    for (int i = 0; i < 2; i++) {
        assert_true(hw_inside_is_outside(&hw_inside));
        assert_int_equal(hw_inside_depth(&hw_inside), HW_INSIDE_OWES);
        assert_false(hw_inside_any());
        hw_inside_enter(&hw_inside);
        assert_false(hw_inside_register(&hw_inside));
        hw_inside_leave_owing(&hw_inside);
    }
    pid_t child = fork();
    if (child == 0)
        _exit(hw_inside_is_owing || hw_inside_depth(&hw_inside) != HW_INSIDE_NO);
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(payments, 0);
    assert_true(hw_inside_register(&hw_inside));
    assert_int_equal(payments, 1);
    assert_true(was_inside_when_paid);
    assert_false(hw_inside_is_owing);
    assert_int_equal(hw_inside_depth(&hw_inside), HW_INSIDE_NO);
}

/* The child has one thread: the other one, inside MPI at the fork, must not count there. */
static void child_starts_over(void **state)
{
    (void)state;
    struct stage stage;
    pthread_t thread;
    stage_open(&stage);
    assert_int_equal(pthread_create(&thread, NULL, enter_and_stay, &stage), 0);
    sem_wait(&stage.is_there);
    pid_t child = fork();
    if (child == 0) {
        bool was_inside = hw_inside_any();
        hw_inside_enter(&hw_inside);
        bool is_inside = hw_inside_any();
        hw_inside_leave(&hw_inside);
        _exit(was_inside || !is_inside);
    }
    int status = -1;
    waitpid(child, &status, 0);
    sem_post(&stage.may_go);
    pthread_join(thread, NULL);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

enum { STACK_BYTES = 1 << 20 };

static pthread_key_t late_key;
static _Thread_local int rounds;
static int last_round;

static void call_once(void)
{
    if (hw_inside_depth(&hw_inside) != HW_INSIDE_NO)
        hw_inside_register(&hw_inside);
    hw_inside_enter(&hw_inside);
    hw_inside_leave(&hw_inside);
}

/* A library that wants to be the last one calls MPI in the last round of destructors. */
static void end_late(void *argument)
{
    if (++rounds < last_round)
        pthread_setspecific(late_key, argument);
    else
        call_once();
}

static void *call_and_end_late(void *argument)
{
    call_once();
    pthread_setspecific(late_key, argument);
    return NULL;
}

/* A thread on a stack, with its thread-local data, that is gone afterwards. */
static void run_on_own_stack(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    void *stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    assert_ptr_not_equal(stack, MAP_FAILED);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, STACK_BYTES);
    assert_int_equal(pthread_create(&thread, &attributes, call_and_end_late, &rounds), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    munmap(stack, STACK_BYTES);
}

static void ending_thread_calls_again(void **state)
{
    (void)state;
    assert_int_equal(pthread_key_create(&late_key, end_late), 0);
    last_round = 1;
    run_on_own_stack();
    assert_false(hw_inside_any());
}

/* Nobody says any more when its calls are over: no turn from here on, but no memory that is gone either. */
static void thread_that_ends_unnoticed(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__ /* whose own runtime has left the thread by then */
    skip();
#endif
    last_round = PTHREAD_DESTRUCTOR_ITERATIONS;
    run_on_own_stack();
    assert_true(hw_inside_any());
}

int main(void)
{
    hw_real_pretend_loaded();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_call_registers),      cmocka_unit_test(nested_call_is_seen),
        cmocka_unit_test(ended_thread_is_forgotten), cmocka_unit_test(own_thread_is_not_the_program),
        cmocka_unit_test(child_starts_over),         cmocka_unit_test(what_is_owed_is_paid_by_the_next_call),
        cmocka_unit_test(ending_thread_calls_again), cmocka_unit_test(thread_that_ends_unnoticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
