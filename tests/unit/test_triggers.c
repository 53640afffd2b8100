/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: each trigger ends a sleep by time and by an interrupt. Events: data of a socket end it once
 * and are waiting until they are read, those that nobody reads are asked about no longer, nor are sockets
 * that a child has kept, an added descriptor ends it too, and it sleeps where the kernel refuses the call
 * that takes nanoseconds (containers answer EPERM to what they do not know). Tick: sockets mean nothing to
 * it. A trigger that cannot be had, or has gone, is the tick. */
#include "progress/trigger.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "forbidden.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LONG_NS (1000 * HW_NS_PER_S) /* longer than the test may take */

static struct hw_triggers triggers;
static int client, server; /* the two ends of a connection */
static atomic_bool is_over;

static int connect_pair(void **state)
{
    (void)state;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    client = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, length), 0);
    server = accept(listener, NULL, NULL);
    return close(listener);
}

static int close_pair(void **state)
{
    (void)state;
    hw_triggers_close(&triggers);
    return close(client) || close(server);
}

static void wait_sleeps(bool is_tick_wanted)
{
    hw_triggers_open(&triggers, is_tick_wanted);
    assert_int_equal(hw_triggers_are_told(&triggers), !is_tick_wanted);
    uint64_t began_ns = hw_clock_now_ns();
    assert_int_equal(hw_triggers_wait(&triggers, 10 * HW_NS_PER_MS), HW_EVENT_NONE);
    assert_true(hw_clock_now_ns() - began_ns >= 9 * HW_NS_PER_MS);
    assert_false(hw_triggers_were_interrupted(&triggers));
}

static void events_end_by_time(void **state)
{
    (void)state;
    wait_sleeps(false);
}

static void tick_ends_by_time(void **state)
{
    (void)state;
    wait_sleeps(true);
}

static void wait_sleeps_where_it_is_forbidden(void **state)
{
    (void)state;
    if (!forbid(SYS_epoll_pwait2))
        skip();
    wait_sleeps(false);
}

/* Again and again: an interrupt ends the sleep that is under way, and is no debt to the next one. */
static void *interrupt(void *unused)
{
    while (!hw_atomic_load_acquire(&is_over)) {
        hw_triggers_interrupt(&triggers);
        usleep(1000);
    }
    return unused;
}

static void wait_is_interrupted(bool is_tick_wanted)
{
    pthread_t other;
    hw_triggers_open(&triggers, is_tick_wanted);
    hw_atomic_store_release(&is_over, false);
    assert_int_equal(pthread_create(&other, NULL, interrupt, NULL), 0);
    assert_int_equal(hw_triggers_wait(&triggers, LONG_NS), HW_EVENT_NONE);
    hw_triggers_nap(&triggers, LONG_NS);
    hw_atomic_store_release(&is_over, true);
    pthread_join(other, NULL);
    assert_true(hw_triggers_were_interrupted(&triggers));
    assert_false(hw_triggers_were_interrupted(&triggers));
}

static void events_are_interrupted(void **state)
{
    (void)state;
    wait_is_interrupted(false);
}

static void tick_is_interrupted(void **state)
{
    (void)state;
    wait_is_interrupted(true);
}

static void data_are_one_event_and_wait_until_they_are_read(void **state)
{
    (void)state;
    char bytes[4];
    hw_triggers_open(&triggers, false);
    assert_int_equal(hw_triggers_refresh(&triggers), 2);
    assert_true(hw_triggers_hear_all(&triggers));
    while (hw_triggers_wait(&triggers, 0) != HW_EVENT_NONE) /* that there is room to write */
        continue;
    assert_false(hw_triggers_is_data_waiting(&triggers));
    assert_int_equal(write(client, "data", 4), 4);
    assert_int_equal(hw_triggers_wait(&triggers, LONG_NS), HW_EVENT_MESSAGE);
    assert_int_equal(hw_triggers_wait(&triggers, 0), HW_EVENT_NONE);
    assert_true(hw_triggers_is_data_waiting(&triggers));
    assert_int_equal(read(server, bytes, sizeof bytes), 4);
    assert_false(hw_triggers_is_data_waiting(&triggers));
}

static void data_that_nobody_reads_are_ignored(void **state)
{
    (void)state;
    hw_triggers_open(&triggers, false);
    hw_triggers_refresh(&triggers);
    assert_int_equal(write(client, "data", 4), 4);
    hw_triggers_wait(&triggers, LONG_NS);
    hw_triggers_ignore_unread(&triggers);
    assert_true(hw_triggers_is_data_waiting(&triggers));
    hw_triggers_ignore_unread(&triggers);
    assert_false(hw_triggers_is_data_waiting(&triggers));
}

/* Closed here, and kept by a child. The number of the other one means nothing any more. */
static void socket_of_a_child_is_lost(void **state)
{
    (void)state;
    int bell = eventfd(0, EFD_CLOEXEC);
    hw_triggers_open(&triggers, false);
    hw_triggers_add(&triggers, bell);
    hw_triggers_refresh(&triggers);
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    assert_int_equal(write(client, "data", 4), 4);
    hw_triggers_wait(&triggers, LONG_NS);
    close(server);
    assert_int_equal(hw_triggers_refresh(&triggers), 1);
    for (int i = 0; i < 2; i++)
        hw_triggers_ignore_unread(&triggers);
    assert_int_equal(hw_triggers_refresh(&triggers), 1);
    assert_false(hw_triggers_is_data_waiting(&triggers));
    hw_triggers_wait(&triggers, HW_NS_PER_MS); /* for the event of a socket that is listed anew */
    assert_int_equal(write(bell, &(uint64_t){1}, sizeof(uint64_t)), sizeof(uint64_t));
    assert_int_not_equal(hw_triggers_wait(&triggers, LONG_NS), HW_EVENT_NONE);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(bell);
    server = dup(client);
}

static void added_descriptor_ends_the_sleep(void **state)
{
    (void)state;
    int bell = eventfd(1, EFD_CLOEXEC);
    hw_triggers_open(&triggers, false);
    hw_triggers_add(&triggers, bell);
    assert_int_not_equal(hw_triggers_wait(&triggers, LONG_NS), HW_EVENT_NONE);
    assert_false(hw_triggers_were_interrupted(&triggers));
    close(bell);
}

static void tick_hears_no_sockets(void **state)
{
    (void)state;
    hw_triggers_open(&triggers, false);
    hw_triggers_use_tick(&triggers);
    assert_int_equal(hw_triggers_refresh(&triggers), 0);
    assert_false(hw_triggers_hear_all(&triggers));
    hw_triggers_add(&triggers, server);
    assert_int_equal(write(client, "data", 4), 4);
    assert_int_equal(hw_triggers_wait(&triggers, HW_NS_PER_MS), HW_EVENT_NONE);
    assert_false(hw_triggers_is_data_waiting(&triggers));
    hw_triggers_ignore_unread(&triggers);
    assert_true(hw_triggers_use_first(&triggers));
    assert_int_equal(hw_triggers_refresh(&triggers), 2);
    assert_true(hw_triggers_is_data_waiting(&triggers));
}

/* A trigger that this machine may lack, and that may go. */
static bool has_bell, is_bell_there;
static int rings;

static bool bell_open(struct hw_triggers *of)
{
    (void)of;
    return has_bell;
}

static bool bell_is_there(const struct hw_triggers *of)
{
    (void)of;
    return is_bell_there;
}

static enum hw_event bell_wait(struct hw_triggers *of, uint64_t timeout_ns)
{
    (void)of, (void)timeout_ns;
    return HW_EVENT_MESSAGE;
}

static void bell_interrupt(struct hw_triggers *of)
{
    (void)of;
    rings++;
}

static const struct hw_trigger bell = {
    .open = bell_open, .is_there = bell_is_there, .wait = bell_wait, .interrupt = bell_interrupt};

static void spare_trigger_is_used_while_it_is_there(void **state)
{
    (void)state;
    has_bell = is_bell_there = true;
    rings = 0;
    hw_triggers_open(&triggers, false);
    hw_triggers_add_spare(&triggers, &bell);
    assert_true(hw_triggers_use_spare(&triggers));
    assert_int_equal(hw_triggers_wait(&triggers, 0), HW_EVENT_MESSAGE);
    hw_triggers_use_first(&triggers);
    assert_int_equal(hw_triggers_wait(&triggers, 0), HW_EVENT_NONE);
    hw_triggers_interrupt(&triggers); /* whichever the agent waits for */
    assert_int_equal(rings, 1);
    is_bell_there = false;
    assert_false(hw_triggers_use_spare(&triggers));
    assert_int_equal(hw_triggers_wait(&triggers, 0), HW_EVENT_NONE);
}

static void trigger_that_cannot_be_had_is_the_tick(void **state)
{
    (void)state;
    has_bell = false;
    hw_triggers_open_as(&triggers, &bell);
    assert_false(hw_triggers_are_told(&triggers));
    hw_triggers_add_spare(&triggers, &bell);
    assert_false(hw_triggers_use_spare(&triggers));
    has_bell = is_bell_there = true;
    hw_triggers_open_as(&triggers, &bell);
    assert_true(hw_triggers_use_first(&triggers));
    assert_int_equal(hw_triggers_wait(&triggers, 0), HW_EVENT_MESSAGE);
}

/* Daemons close all descriptors; what has their numbers then is the program's. */
static void events_are_gone_with_their_descriptors(void **state)
{
    (void)state;
    hw_triggers_open(&triggers, false);
    assert_true(hw_triggers_check(&triggers));
    int theirs = triggers.events.directory_fd;
    close(triggers.events.edge_fd);
    close(triggers.events.level_fd);
    close(triggers.events.interrupt_fd);
    assert_int_equal(dup2(client, theirs), theirs);
    assert_false(hw_triggers_check(&triggers));
    hw_triggers_interrupt(&triggers);
    hw_triggers_close(&triggers);
    assert_int_equal(fcntl(theirs, F_GETFD), 0); /* it is not ours to close */
    close(theirs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(events_end_by_time, connect_pair, close_pair),
        cmocka_unit_test_setup_teardown(tick_ends_by_time, connect_pair, close_pair),
        cmocka_unit_test_setup_teardown(events_are_interrupted, connect_pair, close_pair),
        cmocka_unit_test_setup_teardown(tick_is_interrupted, connect_pair, close_pair),
        cmocka_unit_test_setup_teardown(data_are_one_event_and_wait_until_they_are_read, connect_pair,
                                        close_pair),
        cmocka_unit_test_setup_teardown(data_that_nobody_reads_are_ignored, connect_pair, close_pair),
        cmocka_unit_test_setup_teardown(socket_of_a_child_is_lost, connect_pair, close_pair),
        cmocka_unit_test_setup_teardown(added_descriptor_ends_the_sleep, connect_pair, close_pair),
        cmocka_unit_test_setup_teardown(tick_hears_no_sockets, connect_pair, close_pair),
        cmocka_unit_test_setup_teardown(wait_sleeps_where_it_is_forbidden, connect_pair, close_pair),
        cmocka_unit_test_setup_teardown(spare_trigger_is_used_while_it_is_there, connect_pair, close_pair),
        cmocka_unit_test_setup_teardown(trigger_that_cannot_be_had_is_the_tick, connect_pair, close_pair),
        cmocka_unit_test_setup_teardown(events_are_gone_with_their_descriptors, connect_pair, close_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
