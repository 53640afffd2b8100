/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: directions one after the other are told from both at once by looks within a wait, and what
 * could have been saved follows: what is left of the larger direction. A look that loses its core costs no
 * later ones. No time is asserted but of the arithmetic. */
#include "base/clock.h"
#include "base/options.h"
#include "profile/callers/sites.h"
#include "profile/record/lock.h"
#include "profile/waits/wire_watch.h"
#include "profile/waits/wire_windows.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { STRETCH = 1 << 20, LOOKS = 6, US = 1000 };
/* Looks cost next to nothing beside a run this long. */
#define RUN_NS (UINT64_C(3600) * HW_NS_PER_S)

/* What the looks of the thread find, one after the other; the last for good. */
static struct hw_profile_wire script[LOOKS];
static atomic_uint looked_count;
static struct hw_profile_wire now; /* what the program's own looks find */
static unsigned lost_us;           /* in each of these, to other processes */
static pthread_t program;

static bool read_wire(struct hw_profile_wire *wire, bool is_first)
{
    (void)is_first;
    if (pthread_equal(pthread_self(), program)) {
        usleep(lost_us);
        *wire = now;
        return true;
    }
    unsigned look = atomic_fetch_add(&looked_count, 1);
    *wire = script[look < LOOKS ? look : LOOKS - 1];
    return true;
}

/* The wait: until the thread has seen everything. */
static void until_all_is_seen(void)
{
    while (atomic_load(&looked_count) < LOOKS)
        usleep(100);
}

static struct hw_watch_seen watched(void)
{
    const struct hw_profile_wire none = {0};
    atomic_store(&looked_count, 0);
    hw_profile_lock();
    hw_watch_begin(&none, hw_clock_fast_ns());
    hw_profile_unlock();
    until_all_is_seen();
    hw_profile_lock();
    struct hw_watch_seen seen = hw_watch_end(&script[LOOKS - 1], hw_clock_fast_ns());
    hw_profile_unlock();
    return seen;
}

static void one_after_the_other(void)
{
    for (unsigned i = 0; i < LOOKS; i++)
        script[i] = (struct hw_profile_wire){
            .sent_bytes = STRETCH * (uint64_t)(i < LOOKS / 2 ? i + 1 : LOOKS / 2),
            .received_bytes = STRETCH * (uint64_t)(i < LOOKS / 2 ? 0 : i + 1 - LOOKS / 2),
        };
}

static void at_once(void)
{
    for (unsigned i = 0; i < LOOKS; i++)
        script[i] =
            (struct hw_profile_wire){STRETCH * (uint64_t)(i + 1) / 2, STRETCH * (uint64_t)(i + 1) / 2};
}

static void prepare_long_run(void)
{
    uint64_t now_ns = hw_clock_fast_ns();
    hw_wire_prepare(read_wire, now_ns > RUN_NS ? now_ns - RUN_NS : 0);
}

static int start(void **state)
{
    (void)state;
    program = pthread_self();
    hw_clock_fast_begin();
    prepare_long_run();
    return hw_sites_open() ? 0 : -1;
}

static void directions_are_told_apart(void **state)
{
    (void)state;
    one_after_the_other();
    struct hw_watch_seen seen = watched();
    assert_true(seen.is_known);
    assert_int_equal(seen.alone, LOOKS / 2 * STRETCH);
    assert_int_equal(seen.bytes, LOOKS / 2 * STRETCH);
    at_once();
    seen = watched();
    assert_true(seen.is_known);
    assert_int_equal(seen.alone, 0);
}

static void nothing_is_made_up_without_a_look(void **state)
{
    (void)state;
    struct hw_profile_wire none = {0};
    hw_profile_lock();
    assert_false(hw_watch_end(&none, 0).is_known); /* never begun */
    hw_watch_begin(&none, hw_clock_fast_ns());
    /* Under the lock the thread cannot look. */
    struct hw_watch_seen seen = hw_watch_end(&script[0], hw_clock_fast_ns());
    hw_profile_unlock();
    assert_false(seen.is_known);
}

static void child_has_no_thread(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct hw_profile_wire none = {0};
        hw_watch_begin(&none, hw_clock_fast_ns());
        _exit(hw_watch_end(&script[LOOKS - 1], hw_clock_fast_ns()).is_known ? 1 : 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A window as the program has it: computes, then waits. Its times are what is said here, not what passes. */
static struct hw_profile_site *window(const char *function, const char *posted_by, uint64_t computed_ns,
                                      uint64_t waited_ns)
{
    static const char place;
    struct hw_profile_site *site = hw_sites_find(&place, function, STRETCH);
    uint64_t from_ns = hw_clock_fast_ns();
    struct hw_wire_moment moment = {&place, from_ns, 0};
    now = (struct hw_profile_wire){0};
    hw_profile_lock();
    unsigned number = hw_wire_posted(&moment, posted_by, LOOKS * STRETCH, false);
    assert_true(number != 0);
    /* Entered so long after the look at the post, which was made just now. */
    moment.now_ns = hw_clock_fast_ns() + computed_ns;
    assert_true(hw_wire_enter(&moment));
    hw_profile_unlock();
    until_all_is_seen();
    now = script[LOOKS - 1];
    hw_profile_lock();
    hw_wire_completed(number);
    moment.now_ns += waited_ns;
    moment.mpi_ns += waited_ns;
    hw_wire_leave(&moment, site, waited_ns, computed_ns, LOOKS * STRETCH);
    hw_profile_unlock();
    return site;
}

/* Two ways of 3 MiB, 300 us each at the rate that the first wait shows: 600 us one after the other. The
 * thread naps so long between looks that no run of its looks is faster. */
static void what_is_saved_is_all_but_the_larger_direction(void **state)
{
    (void)state;
    static const char first[] = "first", turns[] = "turns", little[] = "little", together[] = "together",
                      ordered[] = "ordered", rooted[] = "rooted";
    atomic_store(&looked_count, LOOKS);                        /* a first wait both ways is not watched */
    const uint64_t large = UINT64_C(40) * STRETCH + 64 * 1024; /* less what may have been in store */
    script[LOOKS - 1] = (struct hw_profile_wire){large, large};
    struct hw_profile_site *unwatched = window(first, "Isend", 4000 * US, 4000 * US);
    assert_int_equal(hw_wire_fastest(), (uint64_t)STRETCH * 10000);
    hw_options.link_rate = (int64_t)STRETCH * 5000;
    assert_int_equal(hw_wire_fastest(), (uint64_t)STRETCH * 5000);
    hw_options.link_rate = 0;

    atomic_store(&looked_count, 0);
    one_after_the_other();
    struct hw_profile_site *site = window(turns, "Isend", 600 * US, 600 * US);
    atomic_store(&looked_count, 0);
    struct hw_profile_site *short_of_work = window(little, "Isend", 100 * US, 600 * US);
    atomic_store(&looked_count, 0);
    struct hw_profile_site *combining = window(ordered, "Iallreduce", 400 * US, 600 * US);
    atomic_store(&looked_count, 0);
    struct hw_profile_site *passing_on = window(rooted, "Ireduce", 400 * US, 600 * US);
    atomic_store(&looked_count, 0);
    at_once();
    struct hw_profile_site *duplex = window(together, "Isend", 600 * US, 300 * US);
    hw_wire_settle();
    assert_int_equal(unwatched->watched, 0);
    assert_int_equal(site->watched, 1);
    assert_int_equal(site->watched_lesser, LOOKS / 2 * STRETCH);
    assert_int_equal(site->watched_alone, LOOKS / 2 * STRETCH);
    assert_int_equal(site->moved_alone, LOOKS / 2 * STRETCH);
    assert_int_equal(site->moved_waiting, LOOKS * STRETCH);
    assert_int_equal(site->copied, LOOKS * STRETCH);
    assert_in_range(site->usable_ns, 599 * US, 600 * US);
    /* 100 us of each way fit: no more is credited. */
    assert_in_range(short_of_work->usable_ns, 199 * US, 200 * US);
    /* What was received may have been needed for what was sent: one after the other, behind the work. */
    assert_int_equal(combining->watched_alone, LOOKS / 2 * STRETCH);
    assert_int_equal(combining->moved_alone, 0);
    assert_int_equal(combining->moved_in_steps, LOOKS / 2 * STRETCH);
    assert_int_equal(combining->moved_waiting, LOOKS * STRETCH);
    assert_in_range(combining->usable_ns, 399 * US, 400 * US);
    assert_int_equal(passing_on->moved_alone + passing_on->moved_in_steps, 0);
    assert_in_range(passing_on->usable_ns, 399 * US, 400 * US);
    assert_int_equal(duplex->watched, 1);
    assert_int_equal(duplex->moved_alone, 0);
    assert_int_equal(duplex->moved_waiting, LOOKS / 2 * STRETCH);
    assert_in_range(duplex->usable_ns, 299 * US, 300 * US);
}

/* Fifty milliseconds, four hundred times, would be twenty seconds without a look. */
static void look_that_loses_its_core_costs_little(void **state)
{
    (void)state;
    struct hw_wire_moment moment = {.thread = &now, .now_ns = hw_clock_fast_ns()};
    hw_wire_prepare(read_wire, moment.now_ns);
    moment.now_ns += HW_NS_PER_S; /* for the looks of other tests */
    lost_us = 50 * 1000;
    unsigned window = hw_wire_posted(&moment, "Isend", STRETCH, false);
    lost_us = 0;
    assert_true(window != 0);
    hw_wire_completed(window);
    moment.now_ns += 5 * HW_NS_PER_S;
    window = hw_wire_posted(&moment, "Isend", STRETCH, false);
    assert_true(window != 0);
    hw_wire_completed(window);
    prepare_long_run();
}

/* What the kernel hands over at once: two directions at once look like turns of 64 KiB. */
static void lumps_are_no_turns(void **state)
{
    (void)state;
    enum { LUMP = 64 * 1024, COUNT = 33 };
    struct hw_watch_look looks[COUNT] = {{0}};
    for (int i = 1; i < COUNT; i++) {
        looks[i] = looks[i - 1];
        looks[i].at_ns += 200 * US;
        *(i % 4 < 2 ? &looks[i].wire.sent_bytes : &looks[i].wire.received_bytes) += LUMP;
    }
    struct hw_watch_seen seen = hw_watch_judge(looks, COUNT);
    assert_true(seen.is_known);
    assert_int_equal(seen.alone, 0);
    assert_int_equal(seen.run_ns, 0);
}

/* A late partner, then sending, a turn between two looks, receiving, and something of both at once. */
static void turn_between_two_looks_is_found(void **state)
{
    (void)state;
    enum { KIB = 1024 };
    const struct hw_watch_look looks[] = {
        {0, {0, 0}, 0},
        {1000 * US, {0, 0}, 0},
        {2000 * US, {100 * KIB, 0}, 0},
        {4000 * US, {300 * KIB, KIB}, 0},
        {5000 * US, {350 * KIB, 50 * KIB}, 0},
        {7000 * US, {350 * KIB, 250 * KIB}, 0},
        {8000 * US, {450 * KIB, 350 * KIB}, 0},
    };
    struct hw_watch_seen seen = hw_watch_judge(looks, sizeof looks / sizeof looks[0]);
    assert_int_equal(seen.alone, 249 * KIB);
    assert_int_equal(seen.bytes, 300 * KIB);
    assert_int_equal(seen.run_ns, 4000 * US);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directions_are_told_apart),
        cmocka_unit_test(look_that_loses_its_core_costs_little),
        cmocka_unit_test(lumps_are_no_turns),
        cmocka_unit_test(turn_between_two_looks_is_found),
        cmocka_unit_test(nothing_is_made_up_without_a_look),
        cmocka_unit_test(child_has_no_thread),
        cmocka_unit_test(what_is_saved_is_all_but_the_larger_direction),
    };
    return cmocka_run_group_tests_name("wire_watch", tests, start, NULL);
}
