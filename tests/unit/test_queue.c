/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the queue between a process and its ghost: full and not, past long jobs, round its end many
 * times; with threads on one mapping, and with processes on two. Every order of steps: test_queue_orders. */
#include "shm/queue.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { CELLS = 16, THREADS = 2, NO_FILE = -1 };
#ifdef __SANITIZE_THREAD__
enum { JOBS = 3000 };
#else
enum { JOBS = 40000 };
#endif

struct job {
    uint64_t number, check;
    char text[HW_QUEUE_JOB_BYTES - 16];
};

static struct hw_queue_producer producer;
static struct hw_queue_consumer consumer;
static struct hw_queue *queue;

static void *map(int fd)
{
    int flags = MAP_SHARED | (fd == NO_FILE ? MAP_ANONYMOUS : 0);
    void *memory = mmap(NULL, hw_queue_bytes(CELLS), PROT_READ | PROT_WRITE, flags, fd, 0);
    assert_true(memory != MAP_FAILED);
    return memory;
}

static int make(void **state)
{
    (void)state;
    queue = map(NO_FILE);
    hw_queue_make(queue, CELLS);
    return hw_queue_produce(&producer, queue, true) && hw_queue_consume(&consumer, queue) ? 0 : -1;
}

static int drop(void **state)
{
    (void)state;
    return munmap(queue, hw_queue_bytes(CELLS));
}

static struct job job_of(uint64_t number)
{
    struct job job = {.number = number, .check = ~number};
    memset(job.text, (int)(number & 0xFF), sizeof job.text);
    return job;
}

static bool is_whole(const struct job *job)
{
    struct job expected = job_of(job->number);
    return memcmp(job, &expected, sizeof expected) == 0;
}

static struct hw_queue_cell *put(uint64_t number)
{
    struct job job = job_of(number);
    return hw_queue_put(&producer, &job, sizeof job, HW_QUEUE_READY);
}

static struct hw_queue_cell *get(uint64_t number)
{
    struct hw_queue_cell *cell = hw_queue_next(&consumer);
    assert_non_null(cell);
    struct job job;
    memcpy(&job, cell->job, sizeof job);
    assert_int_equal(job.number, number);
    assert_true(is_whole(&job));
    assert_true(hw_queue_claim(cell));
    return cell;
}

static void full_until_an_end_was_taken(void **state)
{
    (void)state;
    struct hw_queue_cell *cells[CELLS];
    for (uint64_t i = 0; i < CELLS; i++)
        assert_non_null(cells[i] = put(i));
    assert_null(put(99));
    for (uint64_t i = 0; i < CELLS; i++)
        assert_ptr_equal(get(i), cells[i]);
    assert_null(hw_queue_next(&consumer));
    hw_queue_end(queue, cells[5], EFAULT, 17);
    assert_null(put(99)); /* nobody took the end */
    assert_true(hw_queue_is_done(cells[5]));
    assert_int_equal(cells[5]->error, EFAULT);
    assert_int_equal(cells[5]->moved, 17);
    hw_queue_release(cells[5]);
    assert_ptr_equal(put(100), cells[5]);
    assert_null(put(101));
    assert_ptr_equal(get(100), cells[5]);
}

static void goes_past_long_jobs(void **state)
{
    (void)state;
    struct hw_queue_cell *longest = put(0);
    assert_ptr_equal(get(0), longest);
    for (uint64_t i = 1; i < 10 * CELLS; i++) {
        struct hw_queue_cell *cell = put(i);
        assert_non_null(cell);
        assert_ptr_not_equal(cell, longest);
        hw_queue_end(queue, get(i), 0, i);
        assert_int_equal(cell->moved, i);
        hw_queue_release(cell);
    }
    assert_false(hw_queue_is_done(longest));
    hw_queue_end(queue, longest, 0, 0);
    assert_true(hw_queue_is_done(longest));
}

static void withdrawn_before_or_after(void **state)
{
    (void)state;
    struct hw_queue_cell *early = put(0), *seen = put(1), *claimed = put(2);
    assert_true(hw_queue_withdraw(early));
    struct hw_queue_cell *cell = hw_queue_next(&consumer);
    assert_ptr_equal(cell, seen);
    assert_true(hw_queue_withdraw(seen));
    assert_false(hw_queue_claim(seen));
    assert_ptr_equal(get(2), claimed);
    assert_false(hw_queue_withdraw(claimed));
    hw_queue_end(queue, claimed, 0, 0);
    assert_false(hw_queue_withdraw(claimed));
    hw_queue_release(claimed);
    for (uint64_t i = 3; i < 3 + CELLS; i++) /* all cells are there again */
        assert_non_null(put(i));
}

static void open_job_by_its_number(void **state)
{
    (void)state;
    struct job job = job_of(7);
    struct hw_queue_cell *cell = hw_queue_put(&producer, &job, sizeof job, HW_QUEUE_OPEN);
    uint64_t number = hw_queue_number(cell);
    assert_null(hw_queue_next(&consumer));
    assert_null(hw_queue_claim_open(queue, number + CELLS));
    assert_ptr_equal(hw_queue_claim_open(queue, number), cell);
    assert_null(hw_queue_claim_open(queue, number));
    hw_queue_open_again(cell);
    assert_ptr_equal(hw_queue_claim_open(queue, number), cell);
    hw_queue_end(queue, cell, 0, 1);
    hw_queue_release(cell);
    cell = hw_queue_put(&producer, &job, sizeof job, HW_QUEUE_OPEN);
    assert_true(hw_queue_withdraw(cell));
    assert_null(hw_queue_claim_open(queue, number + 1));
}

static void another_layout(void **state)
{
    (void)state;
    queue->version++;
    assert_false(hw_queue_produce(&producer, queue, false));
    assert_false(hw_queue_consume(&consumer, queue));
    queue->version--;
    queue->cell_count = CELLS - 1;
    assert_false(hw_queue_consume(&consumer, queue));
}

/* ---- all at once --------------------------------------------------------------------------------------- */

/* Puts JOBS jobs, has as many under way as there is room for, sleeps for the oldest. */
static bool produce(uint64_t first)
{
    struct hw_queue_cell *cells[CELLS] = {NULL};
    uint64_t done = 0;
    for (uint64_t next = 0; done < JOBS;) {
        uint32_t ended = hw_queue_ended(queue);
        uint64_t before = done + next;
        for (int i = 0; i < CELLS; i++) {
            if (cells[i] && hw_queue_is_done(cells[i])) {
                struct job job;
                memcpy(&job, cells[i]->job, sizeof job);
                if (!is_whole(&job) || cells[i]->moved != job.number * 3)
                    return false;
                hw_queue_release(cells[i]);
                cells[i] = NULL;
                done++;
            }
            if (!cells[i] && next < JOBS && (cells[i] = put(first + next)) != NULL)
                next++;
        }
        if (done + next == before)
            hw_queue_sleep(queue, ended, UINT64_C(100000000));
    }
    return true;
}

/* Holds some back, and ends them the other way round. */
static bool consume(uint64_t count)
{
    struct hw_queue_cell *held[4];
    for (uint64_t done = 0; done < count;) {
        int held_count = 0;
        struct hw_queue_cell *cell;
        while (held_count < 4 && (cell = hw_queue_next(&consumer)) != NULL)
            if (hw_queue_claim(cell))
                held[held_count++] = cell;
        if (held_count == 0)
            sched_yield();
        done += (uint64_t)held_count;
        while (held_count > 0) {
            struct job job;
            cell = held[--held_count];
            memcpy(&job, cell->job, sizeof job);
            if (!is_whole(&job))
                return false;
            hw_queue_end(queue, cell, 0, job.number * 3);
        }
    }
    return true;
}

static void *run_producer(void *first) { return produce(*(uint64_t *)first) ? first : NULL; }

static void threads_on_one_mapping(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    uint64_t firsts[THREADS];
    for (int i = 0; i < THREADS; i++) {
        firsts[i] = (uint64_t)i * JOBS;
        assert_int_equal(pthread_create(&threads[i], NULL, run_producer, &firsts[i]), 0);
    }
    bool is_right = consume((uint64_t)THREADS * JOBS);
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        assert_non_null(result);
    }
    assert_true(is_right);
}

/* Two mappings of one file, in two processes, at other addresses. */
static void processes_on_two_mappings(void **state)
{
    (void)state;
    int fd = memfd_create("queue", MFD_CLOEXEC), status = -1;
    assert_true(fd >= 0 && ftruncate(fd, (off_t)hw_queue_bytes(CELLS)) == 0);
    struct hw_queue *own = queue, *first = map(fd);
    hw_queue_make(first, CELLS);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        queue = map(fd);
        munmap(first, hw_queue_bytes(CELLS));
        _exit(hw_queue_produce(&producer, queue, false) && produce(0) ? 0 : 1);
    }
    queue = first;
    bool is_right = hw_queue_consume(&consumer, queue) && consume(JOBS);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_true(is_right);
    munmap(first, hw_queue_bytes(CELLS));
    queue = own;
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(full_until_an_end_was_taken, make, drop),
        cmocka_unit_test_setup_teardown(goes_past_long_jobs, make, drop),
        cmocka_unit_test_setup_teardown(withdrawn_before_or_after, make, drop),
        cmocka_unit_test_setup_teardown(open_job_by_its_number, make, drop),
        cmocka_unit_test_setup_teardown(another_layout, make, drop),
        cmocka_unit_test_setup_teardown(threads_on_one_mapping, make, drop),
        cmocka_unit_test_setup_teardown(processes_on_two_mappings, make, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
