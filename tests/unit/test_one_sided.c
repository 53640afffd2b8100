/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: for which target a thread waited, since when, and which moments are kept; at times made by
 * hand. */
#include "profile/callers/comms.h"
#include "profile/callers/sites.h"
#include "profile/calls/one_sided.h"
#include "profile/record/lock.h"
#include "profile/waits/moments.h"
#include "written.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORLD = 1, BACKWARDS = 2, SIZE = 4 };
enum { WINDOW = 101, TURNED = 102, OTHER = 103, FIRST_FREE = 200 };

static const struct hw_one_sided_mpi mpi = {.is_sound = true};
static struct hw_profile_thread mine;
static char memory[4096];
static uint64_t now_ns = 1000 * HW_MOMENT_SLOT_NS;

static void make(uint64_t handle, uint64_t comm, enum hw_one_sided_memory kind, const void *base,
                 uint64_t size)
{
    const struct hw_one_sided_window window = {handle, comm, kind, base, size};
    hw_one_sided_made(&window, &mpi);
}

static char *written(void) { return written_object(HW_RECORD_ONE_SIDED, hw_one_sided_describe(true)); }
static char *moments(void) { return written_object(HW_RECORD_MOMENTS, hw_moments_describe(1)); }

static int start(void **state)
{
    (void)state;
    int ranks[SIZE] = {0, 1, 2, 3}, reversed[SIZE] = {3, 2, 1, 0};
    if (!hw_sites_open() || !hw_comms_open())
        return -1;
    hw_comms_add(WORLD, "MPI_COMM_WORLD", SIZE, ranks)->calls = 1;
    hw_comms_add(BACKWARDS, "backwards", SIZE, reversed)->calls = 1;
    hw_moments_gap(now_ns, now_ns + HW_NS_PER_MS, 7); /* before it begins: not kept */
    hw_moments_begin();
    make(WINDOW, WORLD, HW_ONE_SIDED_ALLOCATED, memory, 64);
    make(TURNED, BACKWARDS, HW_ONE_SIDED_DYNAMIC, NULL, 0);
    return 0;
}

static void call(enum hw_one_sided_kind kind, const char *function, uint64_t window, int target,
                 uint64_t after_us, uint64_t took_us)
{
    struct hw_one_sided_call one = {.window = window,
                                    .target = target,
                                    .kind = kind,
                                    .function = function,
                                    .site = (const void *)(uintptr_t)0x100};
    one.began_ns = now_ns + after_us * HW_NS_PER_US;
    one.ended_ns = now_ns = one.began_ns + took_us * HW_NS_PER_US;
    hw_one_sided_note(&mine, &one);
}

static void put(uint64_t window, int target) { call(HW_ONE_SIDED_ISSUES, "Put", window, target, 1, 1); }

/* Each test looks at waits of a function of its own. */
static void wait_in(const char *function, uint64_t window, int target, uint64_t after_us)
{
    call(HW_ONE_SIDED_COMPLETES, function, window, target, after_us, 500);
}

/* The lines of waits of a function; the caller frees them. */
static char *waits_of(const char *function)
{
    char *text = written(), *found = calloc(1, 4096), site[32];
    snprintf(site, sizeof site, "\"site\": %u,", hw_sites_index(hw_sites_find((void *)0x100, function, 0)));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (strstr(line, site)) {
            strchr(line, '}')[0] = '\0';
            strncat(strncat(found, strstr(line, "\"memory\""), 1000), "\n", 2);
        }
    free(text);
    return found;
}

static void assert_waits(const char *function, const char *expected)
{
    char *found = waits_of(function);
    assert_string_equal(found, expected);
    free(found);
}

/* The last four figures of the last moment that is a wait: length, entry, before. */
static void assert_last_wait(uint64_t length_us, uint64_t before_us)
{
    char *text = moments(), *end = strstr(text, "\"awaited\"");
    assert_non_null(end);
    *end = '\0';
    unsigned long long began, length, entry, before;
    assert_int_equal(
        sscanf(strrchr(text, '[') + 1, "%llu, %llu, %llu, %llu", &began, &length, &entry, &before), 4);
    assert_int_equal(began + length, now_ns);
    assert_int_equal(length, length_us * HW_NS_PER_US);
    assert_int_equal(before, before_us * HW_NS_PER_US);
    free(text);
}

static void flush_names_its_target(void **state)
{
    (void)state;
    put(WINDOW, 2);
    put(WINDOW, 2);
    wait_in("Win_flush", WINDOW, 2, 100);
    assert_last_wait(500, 102); /* since the first */
    wait_in("Win_flush", WINDOW, 2, 100);
    assert_last_wait(500, 0); /* nothing is pending any more */
    assert_waits("Win_flush", "\"memory\": \"allocate\", \"target\": 2, \"waits\": 2, \"wait_ns\": 1000000, "
                              "\"shared_ns\": 0\n");
}

static void targets_are_ranks_of_the_world(void **state)
{
    (void)state;
    put(TURNED, 0);
    wait_in("Win_unlock", TURNED, 0, 1);
    assert_waits("Win_unlock", "\"memory\": \"create_dynamic\", \"target\": 3, \"waits\": 1, \"wait_ns\": "
                               "500000, \"shared_ns\": 0\n");
}

static void wait_for_all_is_for_who_is_pending(void **state)
{
    (void)state;
    wait_in("Win_fence", WINDOW, HW_ONE_SIDED_ALL, 1); /* for others */
    assert_waits("Win_fence", "");
    put(WINDOW, 1);
    put(TURNED, 2); /* of another window */
    wait_in("Win_fence", WINDOW, HW_ONE_SIDED_ALL, 1);
    assert_waits("Win_fence", "\"memory\": \"allocate\", \"target\": 1, \"waits\": 1, \"wait_ns\": 500000, "
                              "\"shared_ns\": 0\n");
    wait_in("Win_fence", TURNED, HW_ONE_SIDED_ALL, 1);
    wait_in("Win_fence", TURNED, HW_ONE_SIDED_ALL, 1);
    char *found = waits_of("Win_fence");
    assert_non_null(strstr(found, "\"create_dynamic\", \"target\": 1, \"waits\": 1,"));
    free(found);
}

static void of_several_each_has_its_moment(void **state)
{
    (void)state;
    put(WINDOW, 1);
    put(WINDOW, 3);
    put(WINDOW, 2);
    call(HW_ONE_SIDED_COMPLETES, "short", WINDOW, 2, 0, 1);
    wait_in("Win_flush_all", WINDOW, HW_ONE_SIDED_ALL, 10);
    char *found = waits_of("Win_flush_all");
    assert_non_null(strstr(found, "\"allocate\", \"waits\": 1, \"wait_ns\": 500000, \"shared_ns\": 0"));
    assert_non_null(strstr(found, "\"target\": 1, \"waits\": 0, \"wait_ns\": 0, \"shared_ns\": 500000\n"));
    assert_non_null(strstr(found, "\"target\": 3, \"waits\": 0, \"wait_ns\": 0, \"shared_ns\": 500000\n"));
    assert_null(strstr(found, "\"target\": 2"));
    free(found);
}

static void blocking_operation_is_a_wait(void **state)
{
    (void)state;
    call(HW_ONE_SIDED_ISSUES, "Fetch_and_op", WINDOW, 1, 10, 300);
    assert_last_wait(300, 0);
    call(HW_ONE_SIDED_ASKS, "Win_lock", WINDOW, 1, 10, 400);
    assert_last_wait(400, 0);
    for (int nobody = -3; nobody < 0; nobody++) { /* MPI_PROC_NULL of some MPI */
        call(HW_ONE_SIDED_ISSUES, "Get", WINDOW, nobody, 10, 300);
        call(HW_ONE_SIDED_COMPLETES, "Win_unlock_nobody", WINDOW, nobody, 10, 300);
    }
    assert_waits("Get", "");
    assert_waits("Win_unlock_nobody", "");
    wait_in("Win_flush_local", WINDOW, 1, 10); /* for the first, which is pending since */
    assert_last_wait(500, 410 + 6 * 310 + 10);
}

/* Of exclusive locks it is known when they were held, and of whose window; no wait is any the less. */
static void exclusive_locks_are_held(void **state)
{
    (void)state;
    call(HW_ONE_SIDED_ASKS, "Win_lock", TURNED, 1, 1, 1); /* shared */
    call(HW_ONE_SIDED_UNLOCKS, "Win_unlock", TURNED, 1, 100, 1);
    char *text = moments();
    assert_non_null(strstr(text, "\"held\": []"));
    free(text);
    call(HW_ONE_SIDED_LOCKS, "Win_lock", TURNED, 0, 1, 1);
    uint64_t since_ns = now_ns;
    call(HW_ONE_SIDED_LOCKS, "Win_lock", WINDOW, 2, 1, 1);
    call(HW_ONE_SIDED_COMPLETES, "Win_flush", TURNED, 0, 100, 1); /* does not end it */
    put(TURNED, 0);
    call(HW_ONE_SIDED_UNLOCKS, "locked", TURNED, 0, 100, 300);
    assert_last_wait(300, 100);
    uint64_t length_ns = now_ns - 300 * HW_NS_PER_US - since_ns;
    call(HW_ONE_SIDED_UNLOCKS, "Win_unlock", WINDOW, 2, 1, 1);
    call(HW_ONE_SIDED_UNLOCKS, "Win_unlock", WINDOW, 2, 100, 1); /* once */
    call(HW_ONE_SIDED_LOCKS, "Win_lock", WINDOW, 2, 1, 1);
    call(HW_ONE_SIDED_UNLOCKS, "Win_unlock", WINDOW, 2, 10, 1); /* short */
    char first[64];
    snprintf(first, sizeof first, "[%llu, %llu, 3]", (unsigned long long)since_ns,
             (unsigned long long)length_ns);
    text = moments();
    char *held = strstr(text, "\"held\": ["), *end = strstr(text, "\"meetings\"");
    assert_true(held && end && held < end);
    *end = '\0';
    assert_non_null(strstr(held, first));
    held = strstr(held, ", 2]");
    assert_non_null(held);
    assert_null(strchr(held, '[')); /* and no more */
    free(text);
}

static void memory_tells_who_can_reach_it(void **state)
{
    (void)state;
    hw_one_sided_allocated(memory + 1024, 1024);
    make(OTHER, WORLD, HW_ONE_SIDED_CREATED, memory + 1500, 100);
    put(OTHER, 1);
    wait_in("within", OTHER, 1, 1);
    make(OTHER, WORLD, HW_ONE_SIDED_CREATED, memory + 1500, 1000); /* its end is not of it */
    put(OTHER, 1);
    wait_in("beyond", OTHER, 1, 1);
    hw_one_sided_released(memory + 1024);
    make(OTHER, WORLD, HW_ONE_SIDED_CREATED, memory + 1500, 100);
    wait_in("released", OTHER, 1, 1);
    make(OTHER, WORLD, HW_ONE_SIDED_CREATED, memory + 8, 32); /* of WINDOW */
    wait_in("of another", OTHER, 1, 1);
    const struct {
        const char *function, *memory;
    } expected[] = {{"within", "create on Alloc_mem"},
                    {"beyond", "create"},
                    {"released", "create"},
                    {"of another", "create on Alloc_mem"}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        char *found = waits_of(expected[i].function), wanted[64];
        snprintf(wanted, sizeof wanted, "\"%s\", \"target\": 1, \"waits\": 1,", expected[i].memory);
        assert_non_null(strstr(found, wanted));
        free(found);
    }
    hw_one_sided_freed(OTHER);
    wait_in("freed", OTHER, 1, 1);
    assert_waits("freed", "");
}

/* More windows and targets than are kept in sight: what is lost is not taken for pending. */
static void many_windows_and_targets(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    for (uint64_t i = 0; i < COUNT; i++) {
        make(FIRST_FREE + i, WORLD, HW_ONE_SIDED_ALLOCATED, NULL, 0);
        for (int target = 0; target < SIZE; target++)
            put(FIRST_FREE + i, target);
        call(HW_ONE_SIDED_COMPLETES, "short", FIRST_FREE + i, HW_ONE_SIDED_ALL, 0, 1);
    }
    for (uint64_t i = 0; i < COUNT; i++)
        wait_in("many", FIRST_FREE + i, HW_ONE_SIDED_ALL, 0);
    assert_waits("many", "");
}

static uint64_t figure(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    assert_non_null(at);
    return strtoull(at + strlen(name), NULL, 10);
}

/* Of ten times as many as there is room for, and of what is in the same slots in another process. */
static void sample_is_of_slots(void **state)
{
    (void)state;
    uint64_t began = now_ns;
    for (int i = 0; i < 10 * HW_MOMENT_COUNT; i++, now_ns += HW_MOMENT_SLOT_NS / 8)
        hw_moments_gap(now_ns, now_ns + HW_NS_PER_MS, 9);
    char *text = moments(), *at = strstr(text, "\"outside\": [");
    uint64_t one_in = figure(text, "\"one_in\": ");
    int count = 0;
    assert_true(one_in >= 10 && (one_in & (one_in - 1)) == 0);
    for (char *row = strchr(at + 12, '['); row; row = strchr(row + 1, '[')) {
        uint64_t first = strtoull(row + 1, NULL, 10);
        if (first < began || strstr(row, "\"waits\"") == NULL)
            continue;
        uint64_t next = (first / HW_MOMENT_SLOT_NS + one_in - 1) / one_in * one_in;
        assert_true(next <= (first + HW_NS_PER_MS) / HW_MOMENT_SLOT_NS);
        count++;
    }
    assert_true(count > HW_MOMENT_COUNT / 4 && count <= HW_MOMENT_COUNT);
    /* What is longer than what is between two slots is always kept. */
    uint64_t length = (one_in + 1) * HW_MOMENT_SLOT_NS;
    hw_moments_gap(now_ns, now_ns + length, 9);
    free(text);
    text = moments();
    char last[64];
    snprintf(last, sizeof last, "[%llu, %llu, 9]", (unsigned long long)now_ns, (unsigned long long)length);
    assert_non_null(strstr(text, last));
    free(text);
    now_ns += length;
}

static void meetings_have_one_number_everywhere(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++)
        hw_moments_meet(now_ns + (uint64_t)i * 100, now_ns + (uint64_t)i * 100 + 50);
    char *text = moments(), *row = strstr(text, "\"meetings\": [") + 13;
    int count = 0;
    for (row = strchr(row, '['); row; row = strchr(row + 1, '['), count++) {
        uint64_t number = strtoull(row + 1, &row, 10);
        assert_int_equal(number % 16, 0);
        assert_int_equal(strtoull(row + 1, NULL, 10), now_ns + number * 100);
    }
    assert_int_equal(count, 1000 / 16 + 1);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flush_names_its_target),
        cmocka_unit_test(targets_are_ranks_of_the_world),
        cmocka_unit_test(wait_for_all_is_for_who_is_pending),
        cmocka_unit_test(of_several_each_has_its_moment),
        cmocka_unit_test(blocking_operation_is_a_wait),
        cmocka_unit_test(exclusive_locks_are_held),
        cmocka_unit_test(memory_tells_who_can_reach_it),
        cmocka_unit_test(many_windows_and_targets),
        cmocka_unit_test(sample_is_of_slots),
        cmocka_unit_test(meetings_have_one_number_everywhere),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
