/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the profile's sums by call site, its requests, its looks at the wire, and what it writes. */
#include "profile/callers/sites.h"
#include "profile/calls/calls.h"
#include "profile/waits/wire_windows.h"
#include "written.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct hw_profile_wire wire;
static int look_count;

static bool read_wire(struct hw_profile_wire *now, bool is_first)
{
    look_count += is_first;
    *now = wire;
    return true;
}

static const char *const names[] = {"Isend", "Waitall", "Barrier", "Start", "Send_init", "Test", "Iprobe"};
enum name { ISEND, WAITALL, BARRIER, START, SEND_INIT, TEST, IPROBE };

static void begin(struct hw_profile_call *call, enum name name, int place, uint64_t bytes)
{
    hw_profile_enter(call, names[name], &names[place], bytes);
}

static struct hw_profile_site *site_of(enum name name, int place, uint64_t bytes)
{
    return hw_sites_find(&names[place], names[name], bytes);
}

static void note(int place, uint64_t bytes)
{
    hw_profile_note(hw_profile_now_ns(), names[BARRIER], &names[place], bytes);
}

static void post(uint64_t handle, int place, uint64_t bytes)
{
    struct hw_profile_call call;
    begin(&call, ISEND, place, bytes);
    hw_profile_leave(&call);
    hw_profile_posted(&call, handle, false);
}

/* A door over `count` handles from `first` on; those in `complete` are. */
static void door(enum name name, int place, uint64_t first, int count, unsigned complete)
{
    struct hw_profile_call call;
    begin(&call, name, place, 0);
    for (int i = 0; i < count; i++)
        hw_profile_hold(&call, i, first + (uint64_t)i);
    hw_profile_wait(&call, name == WAITALL);
    usleep(2000);
    wire.received_bytes += 1 << 20;
    hw_profile_leave(&call);
    for (int i = 0; i < call.held_count; i++)
        call.held[i].is_complete = complete >> call.held[i].index & 1;
    hw_profile_release(&call, name == WAITALL);
}

static int start(void **state)
{
    (void)state;
    setenv("HEADWAY_PROFILE", "yes", 1);
    hw_profile_prepare(read_wire, NULL);
    assert_true(hw_profile_thread_begin());
    usleep(50000); /* so that there is time a look may be paid from */
    return 0;
}

static void sums_by_place_function_and_size(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        note(i % 2, i < 5 ? 100 : 1000);
    }
    assert_int_equal(site_of(BARRIER, 0, 100)->calls, 3);
    assert_int_equal(site_of(BARRIER, 1, 127)->calls, 2);
    assert_int_equal(site_of(BARRIER, 0, 1000)->calls, 2);
    assert_int_equal(site_of(BARRIER, 1, 600)->bytes, 3000);
}

static void request_is_followed_to_its_door(void **state)
{
    (void)state;
    assert_false(hw_profile_is_any_pending());
    post(7, 2, 1000);
    assert_true(hw_profile_is_any_pending());
    usleep(3000);
    door(WAITALL, 3, 7, 1, 1);
    assert_false(hw_profile_is_any_pending());
    struct hw_profile_site *from = site_of(ISEND, 2, 1000), *to = site_of(WAITALL, 3, 1000);
    assert_int_equal(from->completed, 1);
    assert_true(from->computed_ns >= 2990000);
    assert_true(from->blocked_ns >= 1990000);
    assert_int_equal(to->completed, 1);
    assert_int_equal(to->bytes, 1000);
}

static void blocked_time_is_shared_by_bytes(void **state)
{
    (void)state;
    post(20, 4, 2999);
    post(21, 5, 999);
    door(WAITALL, 4, 20, 2, 3);
    double large = (double)site_of(ISEND, 4, 2999)->blocked_ns;
    double small = (double)site_of(ISEND, 5, 999)->blocked_ns;
    assert_true(large / small > 2.99 && large / small < 3.01);
}

static void what_a_door_leaves_stays_followed(void **state)
{
    (void)state;
    post(30, 0, 64);
    post(31, 0, 64);
    door(TEST, 1, 30, 2, 0);
    assert_int_equal(site_of(ISEND, 0, 64)->completed, 0);
    usleep(1000); /* the program computes in between: neither test is a wait */
    door(TEST, 1, 30, 2, 1);
    assert_int_equal(site_of(ISEND, 0, 64)->completed, 1);
    assert_int_equal(site_of(ISEND, 0, 64)->blocked_ns, 0);
    assert_int_equal(site_of(TEST, 1, 64)->spun_ns, 0);
    hw_profile_forget(31);
    assert_false(hw_profile_is_any_pending());
}

static void persistent_request_counts_at_its_start(void **state)
{
    (void)state;
    struct hw_profile_call call;
    begin(&call, SEND_INIT, 0, 500);
    hw_profile_leave(&call);
    hw_profile_posted(&call, 40, true);
    door(WAITALL, 2, 40, 1, 1); /* inactive: held by nobody */
    assert_int_equal(site_of(WAITALL, 2, 0)->completed, 0);
    for (int i = 0; i < 2; i++) {
        begin(&call, START, 1, 0);
        hw_profile_leave(&call);
        hw_profile_start(&call, 40);
        hw_profile_count(&call);
        door(WAITALL, 2, 40, 1, 1);
    }
    assert_int_equal(site_of(START, 1, 500)->completed, 2);
    assert_int_equal(site_of(SEND_INIT, 0, 500)->completed, 0);
    hw_profile_forget(40);
}

static void many_requests_in_one_door(void **state)
{
    (void)state;
    enum { COUNT = 100 };
    for (uint64_t i = 0; i < COUNT; i++)
        post(1000 + i, 3, 8);
    struct hw_profile_call call;
    begin(&call, WAITALL, 5, 0);
    for (int i = 0; i < COUNT; i++)
        hw_profile_hold(&call, i, 1000 + (uint64_t)i);
    hw_profile_hold(&call, COUNT, 999); /* followed by nobody */
    hw_profile_wait(&call, true);
    assert_int_equal(call.held_count, COUNT);
    hw_profile_leave(&call);
    for (int i = 0; i < COUNT; i++)
        call.held[i].is_complete = true;
    hw_profile_release(&call, true);
    assert_int_equal(site_of(ISEND, 3, 8)->completed, COUNT);
    assert_false(hw_profile_is_any_pending());
}

static void wire_is_looked_at_around_large_requests(void **state)
{
    (void)state;
    look_count = 0;
    post(50, 1, 1 << 20);
    assert_int_equal(look_count, 1);
    wire.sent_bytes += 300000; /* while the program computes */
    usleep(1000);
    door(WAITALL, 0, 50, 1, 1);
    hw_wire_settle();
    struct hw_profile_site *to = site_of(WAITALL, 0, 1 << 20);
    assert_int_equal(to->sampled, 1);
    assert_int_equal(to->moved_computing, 300000);
    assert_int_equal(to->moved_waiting, 1 << 20);
    assert_true(to->sampled_computed_ns >= 990000);
    assert_true(to->sampled_blocked_ns >= 1990000);
    post(51, 1, 1000); /* small: not worth it */
    assert_int_equal(look_count, 1);
    hw_profile_forget(51);
}

static void door_without_wait(uint64_t handle, int place, bool is_complete)
{
    struct hw_profile_call call;
    begin(&call, TEST, place, 0);
    hw_profile_hold(&call, 0, handle);
    hw_profile_wait(&call, false);
    hw_profile_leave(&call);
    call.held[0].is_complete = is_complete;
    hw_profile_release(&call, false);
}

/* One test at once after another, the last of which completes the request. */
static void spin(uint64_t handle, int place, int count)
{
    for (int i = 1; i <= count; i++)
        door_without_wait(handle, place, i == count);
}

static void tests_in_a_loop_are_a_wait(void **state)
{
    (void)state;
    /* Interrupted between its last two tests, a loop counts for nothing: so there are several. */
    for (uint64_t i = 0; i < 20; i++) {
        post(60 + i, 4, 200);
        usleep(1000);
        spin(60 + i, 5, 50);
    }
    assert_int_equal(site_of(TEST, 5, 200)->completed, 20);
    assert_true(site_of(TEST, 5, 200)->spun_ns > 0);
    uint64_t waited_ns = site_of(ISEND, 4, 200)->blocked_ns;
    assert_true(waited_ns > 0 && waited_ns <= site_of(TEST, 5, 200)->spun_ns);
}

/* What is done between tests or probes of a loop is no computation. The core may be taken away in some of the
 * loops: one of them is enough. */
static void between_tests_nothing_is_computed(void **state)
{
    (void)state;
    int seen = 0;
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t mpi_ns = hw_profile_mpi_ns();
        uint64_t spun_ns = site_of(TEST, 3, 300)->spun_ns, computed_ns = site_of(ISEND, 0, 300)->computed_ns;
        post(100 + i, 0, 300);
        spin(100 + i, 3, 500);
        spun_ns = site_of(TEST, 3, 300)->spun_ns - spun_ns;
        computed_ns = site_of(ISEND, 0, 300)->computed_ns - computed_ns;
        assert_true(hw_profile_mpi_ns() - mpi_ns >= spun_ns);
        seen += spun_ns > 0 && computed_ns < spun_ns / 2;
    }
    assert_true(seen > 0);
}

/* Many requests looked at one after the other, and then work: it is not waited, but where the core was taken
 * away for as long. */
static void work_after_many_tests_is_no_wait(void **state)
{
    (void)state;
    int seen = 0;
    for (uint64_t i = 0; i < 10; i++) {
        uint64_t before_ns = site_of(TEST, 2, 400)->spun_ns;
        post(130, 0, 400);
        for (int test = 0; test < 40; test++)
            door_without_wait(130, 2, false);
        usleep(5000);
        door_without_wait(130, 2, true);
        seen += site_of(TEST, 2, 400)->spun_ns - before_ns < HW_NS_PER_MS;
    }
    assert_true(seen > 0);
}

static void probe(int place, bool is_found)
{
    uint64_t began_ns = hw_profile_now_ns();
    const struct hw_profile_note one = {.site = &names[place],
                                        .function = names[IPROBE],
                                        .began_ns = began_ns,
                                        .took_ns = hw_profile_now_ns() - began_ns};
    hw_profile_probed(&one, is_found, HW_DELAY_NO_WHO);
}

static void probes_in_a_loop_are_a_wait(void **state)
{
    (void)state;
    uint64_t mpi_ns = hw_profile_mpi_ns(), began_ns = hw_profile_now_ns();
    for (int i = 0; i < 20; i++) { /* other processes may interrupt some */
        for (uint64_t until_ns = hw_profile_now_ns() + HW_NS_PER_MS; hw_profile_now_ns() < until_ns;)
            probe(1, false);
        probe(1, true);
    }
    uint64_t whole_ns = hw_profile_now_ns() - began_ns, spun_ns = site_of(IPROBE, 1, 0)->spun_ns;
    assert_true(spun_ns > 0 && spun_ns <= whole_ns);
    assert_true(hw_profile_mpi_ns() - mpi_ns >= spun_ns);
    probe(2, false);
    usleep(1000);
    probe(2, true); /* the program computed between */
    probe(2, true); /* and one after the other it found two */
    assert_int_equal(site_of(IPROBE, 2, 0)->spun_ns, 0);
}

/* Two requests of one window, waited for one by one: what is left of the idle wire goes to the second. */
static void idle_wire_is_given_to_one_wait_after_the_other(void **state)
{
    (void)state;
    enum { BYTES = 1 << 19 };
    static const uint64_t first = 90, second = 91;
    uint64_t before = site_of(WAITALL, 1, BYTES)->calls;
    post(first, 2, BYTES);
    post(second, 2, BYTES);
    usleep(10000);
    door(WAITALL, 1, first, 1, 1);  /* 1 MiB in 2 ms or more */
    door(WAITALL, 1, second, 1, 1); /* nothing computed since */
    hw_wire_settle();
    struct hw_profile_site *to = site_of(WAITALL, 1, BYTES);
    assert_int_equal(to->calls, before + 2);
    assert_int_equal(to->sampled, 2);
    assert_int_equal(to->moved_waiting, 2 << 20);
    assert_true(to->usable_ns <= to->sampled_computed_ns);
    double both_ns = 2e9 * (1 << 20) / (double)hw_wire_fastest();
    double least_ns = both_ns < 4e6 ? both_ns : 4e6; /* of 10 ms idle: what moved, in 2 ms each or more */
    assert_true((double)to->usable_ns >= 0.99 * least_ns);
    assert_true((double)to->usable_ns <= 1.01 * both_ns);
}

static void bytes_that_went_elsewhere_say_nothing(void **state)
{
    (void)state;
    post(95, 3, 64 << 20); /* of which the wire sees one part in 64 */
    door(WAITALL, 4, 95, 1, 1);
    hw_wire_settle();
    assert_int_equal(site_of(WAITALL, 4, 64 << 20)->sampled, 0);
    assert_true(site_of(WAITALL, 4, 64 << 20)->unseen_ns >= 1990000);
}

enum { MANY = 5000, TOOK_NS = 1000 };
static pthread_barrier_t step;
static const char many_place;
static uint64_t many_count;

static void call_once(void)
{
    uint64_t ended_ns = hw_profile_now_ns();
    hw_thread_note(hw_profile_mine, ended_ns - TOOK_NS, ended_ns, names[BARRIER], &many_place, 0, NULL,
                   HW_DELAY_NO_WHO);
    many_count++;
}

/* More calls than a timeline holds, the last of them only noted; and the thread does not end here. */
static void *call_often(void *is_begun)
{
    *(bool *)is_begun = hw_profile_thread_begin();
    if (*(bool *)is_begun) {
        while (many_count < MANY || hw_atomic_load_relaxed(&hw_profile_mine->note_count) == 0)
            call_once();
    }
    pthread_barrier_wait(&step);
    pthread_barrier_wait(&step);
    if (*(bool *)is_begun) {
        call_once();
        hw_profile_thread_end();
    }
    return NULL;
}

static void calls_of_other_threads_are_written(void **state)
{
    (void)state;
    pthread_t thread;
    bool is_begun = false;
    uint64_t before_ns = hw_profile_mpi_ns();
    pthread_barrier_init(&step, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, call_often, &is_begun), 0);
    pthread_barrier_wait(&step);
    assert_true(is_begun);
    struct hw_profile_site *site = hw_sites_find(&many_place, names[BARRIER], 0);
    assert_true(site->calls < many_count); /* or the next says nothing */
    assert_int_equal(hw_profile_mpi_ns() - before_ns, many_count * TOOK_NS);
    struct hw_record_process process = {0};
    for (int i = 0; i < 2; i++) {
        hw_profile_describe(&process, true);
        assert_int_equal(site->calls, many_count);
    }
    pthread_barrier_wait(&step);
    pthread_join(thread, NULL);
    assert_int_equal(site->calls, many_count);
    assert_int_equal(site->call_ns, many_count * TOOK_NS);
    assert_int_equal(hw_profile_mpi_ns() - before_ns, many_count * TOOK_NS);
}

static void full_table_keeps_the_rest_together(void **state)
{
    (void)state;
    static const char places[4096];
    struct hw_profile_site *last = NULL, *before = NULL;
    for (size_t i = 0; i < sizeof places; i++) {
        before = last;
        last = hw_sites_find(&places[i], names[BARRIER], 0);
    }
    assert_ptr_equal(before, last);
    assert_string_equal(last->function, "others");
    assert_ptr_not_equal(site_of(ISEND, 3, 8), last); /* those found before stay */
}

static void record_is_written(void **state)
{
    (void)state;
    struct hw_record_process process = {0};
    hw_profile_describe(&process, true);
    char *text = written_object(HW_RECORD_PROCESS, &process);
    assert_non_null(strstr(text, "\"mpi_s\": "));
    assert_non_null(strstr(text, "\"function\": \"Isend\", \"size_class\": 21"));
    assert_non_null(strstr(text, "\"module\": \"/"));
    assert_non_null(strstr(text, "\"moved_computing\": 300000"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_by_place_function_and_size),
        cmocka_unit_test(request_is_followed_to_its_door),
        cmocka_unit_test(blocked_time_is_shared_by_bytes),
        cmocka_unit_test(what_a_door_leaves_stays_followed),
        cmocka_unit_test(persistent_request_counts_at_its_start),
        cmocka_unit_test(many_requests_in_one_door),
        cmocka_unit_test(wire_is_looked_at_around_large_requests),
        cmocka_unit_test(tests_in_a_loop_are_a_wait),
        cmocka_unit_test(between_tests_nothing_is_computed),
        cmocka_unit_test(work_after_many_tests_is_no_wait),
        cmocka_unit_test(probes_in_a_loop_are_a_wait),
        cmocka_unit_test(idle_wire_is_given_to_one_wait_after_the_other),
        cmocka_unit_test(bytes_that_went_elsewhere_say_nothing),
        cmocka_unit_test(calls_of_other_threads_are_written),
        cmocka_unit_test(full_table_keeps_the_rest_together),
        cmocka_unit_test(record_is_written),
    };
    return cmocka_run_group_tests_name("profile", tests, start, NULL);
}
