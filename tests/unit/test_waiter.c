/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a waiter whose descriptors the program has closed, as daemons close all: what has their
 * numbers now is neither written to nor closed, and the waiter goes on by its timer. Words of a helper that
 * are lost, doubled or wrong: the waiter always returns, looks after each, and does without a helper that is
 * mute. Without being told what to listen to it keeps to sockets, and where there are none to a helper.
 */
#include "engines/thread/waiter.h"

#include "base/clock.h"
#include "base/options.h"
#include "progress/helped.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
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

static struct hw_helped_word word;

static int open_helper(void **state)
{
    static struct hw_waiter waiter;
    *state = &waiter;
    word = (struct hw_helped_word){0};
    hw_helped_open(&word);
    hw_options.trigger = HW_OPTION_TRIGGER_HELPER;
    hw_waiter_open(&waiter);
    waiter.gap_ns = HW_NS_PER_MS;
    return 0;
}

static int close_helper(void **state)
{
    hw_triggers_close(&((struct hw_waiter *)*state)->triggers);
    hw_helped_close();
    hw_options.trigger = HW_OPTION_TRIGGER_AUTO;
    return 0;
}

static void tell(int count)
{
    for (int i = 0; i < count; i++) {
        hw_helped_match(&word);
        hw_helped_wake(&word);
    }
}

static enum hw_reason look(struct hw_waiter *waiter, int completed)
{
    enum hw_reason reason = hw_waiter_wait(waiter);
    hw_waiter_polled(waiter, reason, completed);
    return reason;
}

/* Also where two words are of one message, or of one that is not pending. */
static void each_word_makes_the_thread_look(void **state)
{
    struct hw_waiter *waiter = *state;
    hw_waiter_begin(waiter);
    tell(3);
    for (int i = 0; i < 8; i++) /* as long as it may be moving */
        assert_int_equal(look(waiter, 0), HW_REASON_EVENT);
    hw_waiter_end(waiter);
    hw_waiter_begin(waiter);
    assert_int_equal(look(waiter, 0), HW_REASON_TICK); /* it has settled */
    tell(1);
    assert_int_equal(look(waiter, 1), HW_REASON_EVENT);
    hw_waiter_end(waiter);
}

static void run_mute_period(struct hw_waiter *waiter, int completed)
{
    hw_waiter_begin(waiter);
    look(waiter, completed);
    hw_waiter_end(waiter);
}

static void a_helper_that_is_mute_is_done_without(void **state)
{
    struct hw_waiter *waiter = *state;
    for (int i = 0; i < 8; i++)
        run_mute_period(waiter, 0); /* nothing came, so nothing was to be told */
    assert_false(hw_helped_is_silent());
    for (int i = 0; i < 4; i++)
        run_mute_period(waiter, 1);
    assert_true(hw_helped_is_silent());
    run_mute_period(waiter, 1);
    assert_false(hw_triggers_are_told(&waiter->triggers));
    for (int i = 0; i < 64 && hw_helped_is_silent(); i++)
        run_mute_period(waiter, 1);
    assert_false(hw_helped_is_silent());
    hw_waiter_begin(waiter);
    assert_true(hw_triggers_are_told(&waiter->triggers));
    tell(1);
    look(waiter, 1);
    hw_waiter_end(waiter);
    for (int i = 0; i < 3; i++)
        run_mute_period(waiter, 1);
    assert_false(hw_helped_is_silent());
}

static void who_asks_is_heard_once(void **state)
{
    struct hw_waiter *waiter = *state;
    hw_waiter_begin(waiter);
    assert_true(hw_helped_ask(&word, false));
    assert_false(hw_helped_ask(&word, false)); /* it has not looked yet */
    assert_true(hw_helped_is_own_asked());
    hw_helped_wake(&word);
    assert_int_equal(look(waiter, 0), HW_REASON_EVENT);
    assert_false(hw_helped_is_own_asked());
    assert_int_equal(look(waiter, 0), HW_REASON_EVENT); /* once more for what is slower than the question */
    assert_int_equal(look(waiter, 0), HW_REASON_TICK);
    assert_true(hw_helped_ask(&word, true));
    for (int i = 0; i < 7; i++)
        assert_int_equal(look(waiter, 0), HW_REASON_EVENT);
    assert_int_equal(look(waiter, 0), HW_REASON_TICK);
    hw_waiter_end(waiter);
}

static int open_auto(void **state)
{
    static struct hw_waiter waiter;
    *state = &waiter;
    word = (struct hw_helped_word){0};
    hw_helped_open(&word);
    hw_waiter_open(&waiter);
    return 0;
}

/* Without sockets. */
static void auto_listens_to_a_helper_that_is_there(void **state)
{
    struct hw_waiter *waiter = *state;
    hw_waiter_begin(waiter);
    assert_int_equal(hw_waiter_told_by(waiter), HW_TOLD_BY_HELPER);
    assert_string_equal(waiter->why, "the process has no connected socket");
    assert_true(hw_helped_is_wanted());
    tell(1);
    assert_int_equal(look(waiter, 1), HW_REASON_EVENT);
    hw_waiter_end(waiter);
    for (int i = 0; i < 5; i++)
        run_mute_period(waiter, 1);
    assert_int_equal(hw_waiter_told_by(waiter), HW_TOLD_BY_NOBODY);
    assert_string_equal(waiter->why, "the helper tells nothing of messages");
}

/* Also who sleeps on it. */
static void a_helper_that_died_is_done_without(void **state)
{
    struct hw_waiter *waiter = *state;
    hw_waiter_begin(waiter);
    assert_int_equal(hw_waiter_told_by(waiter), HW_TOLD_BY_HELPER);
    hw_helped_lose(&word);
    assert_int_equal(look(waiter, 0), HW_REASON_TICK);
    assert_int_equal(hw_waiter_told_by(waiter), HW_TOLD_BY_NOBODY);
    assert_false(hw_helped_is_wanted());
    hw_waiter_end(waiter);
    hw_waiter_begin(waiter);
    assert_int_equal(hw_waiter_told_by(waiter), HW_TOLD_BY_NOBODY);
    hw_waiter_end(waiter);
}

static void connect_to_itself(int *ends)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listening = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listening, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(listening, 1), 0);
    assert_int_equal(getsockname(listening, (struct sockaddr *)&address, &length), 0);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(ends[0], (struct sockaddr *)&address, length), 0);
    ends[1] = accept(listening, NULL, NULL);
    close(listening);
}

static void auto_keeps_to_sockets_that_tell(void **state)
{
    struct hw_waiter *waiter = *state;
    int ends[2];
    connect_to_itself(ends);
    hw_waiter_begin(waiter);
    assert_int_equal(hw_waiter_told_by(waiter), HW_TOLD_BY_SOCKETS);
    assert_string_equal(waiter->why, "the sockets of the process tell of messages");
    assert_false(hw_helped_is_wanted());
    assert_false(hw_helped_has_unknown());
    hw_waiter_end(waiter);
    for (int i = 0; i < 8; i++)
        run_mute_period(waiter, 1);
    hw_waiter_begin(waiter);
    assert_int_equal(hw_waiter_told_by(waiter), HW_TOLD_BY_HELPER);
    assert_string_equal(waiter->why, "the sockets of the process tell nothing of messages");
    hw_waiter_end(waiter);
    hw_helped_want(false);
    close(ends[0]), close(ends[1]);
    hw_waiter_begin(waiter);
    assert_int_equal(hw_waiter_told_by(waiter), HW_TOLD_BY_HELPER);
    assert_true(hw_helped_is_wanted());
    assert_true(hw_helped_has_unknown()); /* nobody has noted what is pending already */
    hw_helped_forget_unknown();
    hw_waiter_end(waiter);
}

static void what_no_helper_can_tell_of_is_not_its_silence(void **state)
{
    hw_helped_add_unknown();
    for (int i = 0; i < 8; i++)
        run_mute_period(*state, 1);
    assert_false(hw_helped_is_silent());
    hw_helped_forget_unknown();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_others_are_left_alone),
        cmocka_unit_test_setup_teardown(each_word_makes_the_thread_look, open_helper, close_helper),
        cmocka_unit_test_setup_teardown(a_helper_that_is_mute_is_done_without, open_helper, close_helper),
        cmocka_unit_test_setup_teardown(what_no_helper_can_tell_of_is_not_its_silence, open_helper,
                                        close_helper),
        cmocka_unit_test_setup_teardown(who_asks_is_heard_once, open_helper, close_helper),
        cmocka_unit_test_setup_teardown(a_helper_that_died_is_done_without, open_helper, close_helper),
        cmocka_unit_test_setup_teardown(auto_listens_to_a_helper_that_is_there, open_auto, close_helper),
        cmocka_unit_test_setup_teardown(auto_keeps_to_sockets_that_tell, open_auto, close_helper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
