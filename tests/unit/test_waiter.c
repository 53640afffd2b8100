/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a waiter whose descriptors the program has closed, as daemons close all: what has their
 * numbers now is neither written to nor closed, and the waiter goes on by its timer. */
#include "engines/thread/waiter.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { FILE_COUNT = 16 };

static int files[FILE_COUNT];

static void take_all_numbers(void)
{
    for (int fd = STDERR_FILENO + 1; fd < STDERR_FILENO + 1 + FILE_COUNT; fd++)
        close(fd);
    files[0] = memfd_create("the program's", MFD_CLOEXEC);
    assert_true(files[0] >= 0);
    for (int i = 1; i < FILE_COUNT; i++)
        assert_true((files[i] = dup(files[0])) >= 0);
}

static void numbers_of_others_are_left_alone(void **state)
{
    (void)state;
    struct hw_waiter waiter;
    struct stat status;
    hw_waiter_open(&waiter);
    assert_true(hw_triggers_are_told(&waiter.triggers));
    hw_waiter_begin(&waiter);
    take_all_numbers();
    hw_triggers_interrupt(&waiter.triggers);
    assert_int_equal(hw_waiter_wait(&waiter), HW_REASON_INTERRUPT);
    hw_waiter_begin(&waiter);
    assert_false(hw_triggers_are_told(&waiter.triggers));
    uint64_t began_ns = hw_clock_now_ns();
    assert_int_equal(hw_waiter_wait(&waiter), HW_REASON_TICK);
    assert_true(hw_clock_now_ns() - began_ns >= waiter.period_ns / 2);
    hw_triggers_close(&waiter.triggers);
    for (int i = 0; i < FILE_COUNT; i++) {
        assert_int_equal(fstat(files[i], &status), 0);
        assert_int_equal(status.st_size, 0);
        close(files[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_of_others_are_left_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
