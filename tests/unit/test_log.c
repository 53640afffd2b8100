/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what ends a job is said once a node, and nobody else can keep it from being said; and it is
 * read before the job ends. */
#include "base/log.h"

#include "base/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { NOBODY = 65534, LATE_US = 100 * 1000 };

/* A sibling that says a line, and stays until it is told to go. */
struct sibling {
    pid_t pid;
    int said_fd, leave_fd;
};

static struct sibling start(uid_t user)
{
    int said[2], done[2], leave[2];
    char byte = 0;
    assert_int_equal(pipe(said) | pipe(done) | pipe(leave), 0);
    struct sibling sibling = {.pid = fork(), .said_fd = said[0], .leave_fd = leave[1]};
    if (sibling.pid == 0) {
        dup2(said[1], STDERR_FILENO);
        close(leave[1]);
        if (user != geteuid() && setuid(user) != 0)
            _exit(1);
        hw_log_set_rank(0);
        hw_log_fatal("this ends the job");
        (void)!write(done[1], &byte, 1);
        (void)!read(leave[0], &byte, 1);
        _exit(0);
    }
    close(said[1]);
    close(done[1]);
    close(leave[0]);
    assert_int_equal(read(done[0], &byte, 1), 1);
    close(done[0]);
    return sibling;
}

/* Returns whether it has said the line. */
static bool end(struct sibling sibling)
{
    char text[256];
    int status = -1;
    close(sibling.leave_fd);
    bool has_said = read(sibling.said_fd, text, sizeof text) > 0;
    close(sibling.said_fd);
    waitpid(sibling.pid, &status, 0);
    assert_int_equal(status, 0);
    return has_said;
}

static void siblings_say_it_once(void **state)
{
    (void)state;
    struct sibling first = start(geteuid()), second = start(geteuid());
    assert_false(end(second));
    assert_true(end(first));
}

static void who_comes_later_says_it_again(void **state)
{
    (void)state;
    assert_true(end(start(geteuid())));
    assert_true(end(start(geteuid())));
}

static void a_stranger_silences_nobody(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* nobody can be a stranger */
    struct sibling stranger = start(NOBODY), own = start(geteuid());
    assert_true(end(own));
    assert_true(end(stranger));
}

/* Standard error is what `fd` is, until it is given back. */
static int stand_in(int fd)
{
    int kept = dup(STDERR_FILENO);
    assert_true(kept >= 0 && dup2(fd, STDERR_FILENO) == STDERR_FILENO);
    close(fd);
    return kept;
}

static void give_back(int kept)
{
    assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
    close(kept);
}

/* The reader comes late, as a launcher that gets no core. */
static void the_end_waits_until_it_is_read(void **state)
{
    (void)state;
    char text[256];
    int said[2], status = -1;
    assert_int_equal(pipe(said), 0);
    pid_t reader = fork();
    if (reader == 0) {
        usleep(LATE_US);
        _exit(read(said[0], text, sizeof text) <= 0);
    }
    int kept = stand_in(said[1]);
    hw_log_error("this ends the job");
    int unread = -1;
    hw_log_await_reader();
    ioctl(said[0], FIONREAD, &unread);
    give_back(kept);
    waitpid(reader, &status, 0);
    close(said[0]);
    assert_int_equal(status, 0);
    assert_int_equal(unread, 0);
}

static void nobody_who_reads_is_waited_for_a_moment(void **state)
{
    (void)state;
    int said[2];
    assert_int_equal(pipe(said), 0);
    int kept = stand_in(said[1]);
    hw_log_error("this ends the job");
    errno = ENOENT;
    uint64_t began_ns = hw_clock_now_ns();
    hw_log_await_reader();
    int left_errno = errno;
    uint64_t waited_ns = hw_clock_now_ns() - began_ns;
    give_back(kept);
    close(said[0]);
    assert_true(waited_ns >= HW_NS_PER_S / 4);
    assert_int_equal(left_errno, ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siblings_say_it_once),
        cmocka_unit_test(who_comes_later_says_it_again),
        cmocka_unit_test(a_stranger_silences_nobody),
        cmocka_unit_test(the_end_waits_until_it_is_read),
        cmocka_unit_test(nobody_who_reads_is_waited_for_a_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
