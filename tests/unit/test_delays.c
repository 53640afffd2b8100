/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: for whom a thread waited, and what it did before it gave something; at times made by hand. */
#include "profile/callers/comms.h"
#include "profile/callers/sites.h"
#include "profile/waits/delays.h"
#include "written.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORLD = 1, BACKWARDS = 2, GRID = 3, SIZE = 4, GRID_SIZE = 512, OWN = 1 };

static const char *const names[] = {"Send", "Recv", "Allreduce", "Bcast", "Waitall"};
enum name { SEND, RECV, ALLREDUCE, BCAST, WAITALL };

static struct hw_profile_comm *world, *backwards, *grid;
static struct hw_delays mine;
static uint64_t now_ns;

static int start(void **state)
{
    (void)state;
    int ranks[SIZE] = {0, 1, 2, 3}, reversed[SIZE] = {3, 2, 1, 0}, many[GRID_SIZE];
    for (int i = 0; i < GRID_SIZE; i++)
        many[i] = i;
    if (!hw_sites_open() || !hw_comms_open() || !hw_delays_open())
        return -1;
    world = hw_comms_add(WORLD, "MPI_COMM_WORLD", SIZE, ranks);
    backwards = hw_comms_add(BACKWARDS, "backwards", SIZE, reversed);
    grid = hw_comms_add(GRID, "grid", GRID_SIZE, many);
    hw_comms_set_own(WORLD, OWN, false);
    hw_comms_set_own(BACKWARDS, SIZE - 1 - OWN, false);
    world->calls = backwards->calls = grid->calls = 1;
    return 0;
}

/* Each test begins with a thread of its own, at places of its own; `place` stands for an address. */
static void begin(void)
{
    memset(&mine, 0, sizeof mine);
    now_ns += HW_NS_PER_S;
}

static void call_on(struct hw_profile_comm *comm, enum name name, uintptr_t place, uint64_t after_us,
                    uint64_t took_us, const struct hw_delay_who *who)
{
    const struct hw_profile_note one = {.site = (const void *)place,
                                        .function = names[name],
                                        .comm = comm,
                                        .bytes = 8,
                                        .began_ns = now_ns + after_us * HW_NS_PER_US,
                                        .took_ns = took_us * HW_NS_PER_US};
    now_ns = one.began_ns + one.took_ns;
    if (hw_delays_is_news(&mine, one.began_ns, one.took_ns, hw_delays_has_partner(who->gives, who->takes)))
        hw_delays_add(&mine, &one, who);
    else
        hw_delays_pass(&mine, one.site, one.function, one.bytes, now_ns);
}

static void call(enum name name, uintptr_t place, uint64_t after_us, uint64_t took_us,
                 const struct hw_delay_who *who)
{
    call_on(world, name, place, after_us, took_us, who);
}

static struct hw_delay_who with(int gives, int takes, int tag)
{
    return (struct hw_delay_who){WORLD, gives, takes, tag};
}

static void send(uintptr_t place, uint64_t after_us, uint64_t took_us, int dest)
{
    const struct hw_delay_who who = with(dest, HW_DELAY_NOBODY, 5);
    call(SEND, place, after_us, took_us, &who);
}

static void send_in_grid(uintptr_t place, uint64_t after_us, int dest)
{
    const struct hw_delay_who who = {GRID, dest, HW_DELAY_NOBODY, 5};
    call_on(grid, SEND, place, after_us, 1, &who);
}

static void receive(uintptr_t place, uint64_t after_us, uint64_t took_us, int source)
{
    const struct hw_delay_who who = with(HW_DELAY_NOBODY, source, 6);
    call(RECV, place, after_us, took_us, &who);
}

/* 800 us, always at the same time. */
static void wait_at_door(uintptr_t place, const struct hw_delay_door *door)
{
    const struct hw_profile_note one = {.site = (const void *)place,
                                        .function = names[WAITALL],
                                        .comm = world,
                                        .bytes = 8,
                                        .began_ns = now_ns + 1000,
                                        .took_ns = 800 * HW_NS_PER_US};
    hw_delays_door(&mine, &one, one.took_ns, door);
}

/* What is written of the exchanges of a call site; the caller frees it. */
static char *written(enum name name, uintptr_t place)
{
    char *text = written_by(hw_delays_write_exchanges), *found = calloc(1, 4096), site[32];
    snprintf(site, sizeof site, "\"site\": %u,",
             hw_sites_index(hw_sites_find((void *)place, names[name], 8)));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (strstr(line, site))
            strncat(strncat(found, line, 1000), "\n", 2);
    free(text);
    return found;
}

static void assert_written(enum name name, uintptr_t place, const char *expected)
{
    char *text = written(name, place);
    if (!strstr(text, expected))
        fail_msg("%s is not in %s", expected, text);
    free(text);
}

static void assert_nothing(enum name name, uintptr_t place)
{
    char *text = written(name, place);
    assert_string_equal(text, "");
    free(text);
}

static void short_calls_leave_nothing(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 100; i++) {
        send(0x100, 1, 1, 2);
        receive(0x101, 1, 5, 2);
    }
    assert_nothing(SEND, 0x100);
    assert_nothing(RECV, 0x101);
    assert_int_equal(mine.now.event_count, 0);
}

static void computing_is_put_down_to_what_it_delayed(void **state)
{
    (void)state;
    begin();
    send(0x200, 1, 1, 2);
    send(0x201, 3000, 1, 2);
    send(0x202, 1, 1, 3);
    assert_written(SEND, 0x201,
                   "\"to\": 2, \"tag\": 5, \"looks\": 1, \"before_gap_ns\": 3000000, \"before\": [{\"gap\"");
    assert_written(SEND, 0x202, "\"to\": 3, \"tag\": 5, \"looks\": 1, \"before_gap_ns\": 3000000");
    send(0x201, 1, 1, 2); /* nothing has happened since */
    assert_written(SEND, 0x201, "\"looks\": 1,");
}

/* Events are counted on in runs of weeks: what was before the count's 2^32 is not since the beginning. */
static void events_are_counted_on(void **state)
{
    (void)state;
    begin();
    mine.now.event_count = UINT32_MAX - 1;
    mine.now.gap_ns = 7 * HW_NS_PER_S; /* in all of these */
    send(0x250, 1, 1, 2);
    send(0x251, 1000, 1, 2);
    for (int i = 0; i < 4; i++)
        receive(0x252, 1000, 1, 3);
    send(0x253, 1000, 1, 2);
    assert_written(SEND, 0x253, "\"to\": 2, \"tag\": 5, \"looks\": 1, \"before_gap_ns\": 5000000,");
}

static void waits_are_passed_on(void **state)
{
    (void)state;
    begin();
    send(0x300, 1, 1, 0);
    receive(0x301, 100, 2000, 3);
    send(0x302, 1, 1, 0);
    assert_written(RECV, 0x301,
                   "\"from\": 3, \"tag\": 6, \"waits\": 1, \"wait_ns\": 2000000, \"looks\": 1, "
                   "\"before_gap_ns\": 100000");
    assert_written(SEND, 0x302, "\"before_gap_ns\": 100000, \"before_wait_ns\": 2000000");
    assert_written(SEND, 0x302, "{\"exchange\"");
    receive(0x301, 1, 30, 3); /* its own wait is not what it did before the next */
    receive(0x303, 1, 30, 3);
    assert_written(RECV, 0x303, "\"wait_ns\": 30000}");
}

static void ranks_are_those_of_the_world(void **state)
{
    (void)state;
    begin();
    struct hw_delay_who who = with(HW_DELAY_NOBODY, 0, 1);
    who.handle = BACKWARDS;
    call_on(backwards, RECV, 0x400, 1, 500, &who);
    assert_written(RECV, 0x400, "\"from\": 3,");
    who.takes = SIZE; /* no such rank */
    call_on(backwards, RECV, 0x401, 1, 500, &who);
    assert_written(RECV, 0x401, "\"waits\": 1, \"wait_ns\": 500000, \"unknown_ns\": 500000}");
}

/* MPI-4.1 section 7.4.3: what is pending when a communicator is freed is completed as if it were not, and by
 * then another may have its handle. */
static void ranks_outlive_their_communicator(void **state)
{
    (void)state;
    enum { FREED = 4, BOTH_PARTNERS = 2 };
    int ranks[SIZE] = {3, 2, 1, 0}, others[SIZE] = {0, 1, 2, 3};
    hw_comms_add(FREED, "freed", SIZE, ranks);
    hw_comms_set_own(FREED, SIZE - 1 - OWN, false);
    const struct hw_delay_who posted = {FREED, 1, 0, 7}, bcast = {FREED, HW_DELAY_IF_ROOT, 3, -1};
    const struct hw_delay_who root = {FREED, HW_DELAY_IF_ROOT, SIZE - 1 - OWN, -1};
    const struct hw_delay_who kept = hw_delays_in_world(&posted), from_root = hw_delays_in_world(&bcast);
    const struct hw_delay_who as_root = hw_delays_in_world(&root);
    hw_comms_forget(FREED);
    hw_comms_add(FREED, "next", SIZE, others);
    struct hw_delay_door door = {0};
    hw_delays_door_add(&door, &kept, world);
    assert_int_equal(door.count, BOTH_PARTNERS);
    assert_int_equal(door.partners[0].way, HW_DELAY_FROM);
    assert_int_equal(door.partners[0].rank, 3);
    assert_int_equal(door.partners[1].way, HW_DELAY_TO);
    assert_int_equal(door.partners[1].rank, 2);
    hw_delays_door_add(&door, &from_root, world);
    assert_int_equal(door.count, BOTH_PARTNERS + 1);
    assert_int_equal(door.partners[2].rank, 0);
    assert_false(door.is_unknown);
    hw_delays_door_add(&door, &as_root, world); /* for whom a root waits is not told */
    assert_int_equal(door.count, BOTH_PARTNERS + 1);
    assert_true(door.is_unknown);
}

static void the_world_together_begins_anew(void **state)
{
    (void)state;
    begin();
    const struct hw_delay_who all = with(HW_DELAY_ALL, HW_DELAY_ALL, -1);
    send(0x500, 1, 1, 2);
    call(ALLREDUCE, 0x501, 700, 900, &all);
    assert_written(
        ALLREDUCE, 0x501,
        "\"communicator\": 0, \"waits\": 1, \"wait_ns\": 900000, \"looks\": 1, \"before_gap_ns\": 700000");
    send(0x502, 40, 1, 2);
    assert_written(SEND, 0x502, "\"before_gap_ns\": 40000, \"before\"");
}

static void who_waits_for_a_root(void **state)
{
    (void)state;
    begin();
    struct hw_delay_who who = with(HW_DELAY_IF_ROOT, 0, -1);
    send(0x600, 1, 1, 2);
    call(BCAST, 0x601, 50, 400, &who);
    assert_written(BCAST, 0x601, "\"from\": 0, \"waits\": 1, \"wait_ns\": 400000");
    who.takes = OWN; /* the root gives */
    call(BCAST, 0x602, 60, 1, &who);
    assert_written(
        BCAST, 0x602,
        "\"communicator\": 0, \"looks\": 1, \"before_gap_ns\": 110000, \"before_wait_ns\": 400000");
}

static void doors_of_one_partner_and_of_several(void **state)
{
    (void)state;
    begin();
    const struct hw_delay_who from = with(HW_DELAY_NOBODY, 2, 7), to = with(2, HW_DELAY_NOBODY, 7);
    const struct hw_delay_who other = with(HW_DELAY_NOBODY, 3, 7),
                              edge = with(HW_DELAY_NOBODY, HW_DELAY_NOBODY, 7);
    struct hw_delay_door door = {0};
    hw_delays_door_add(&door, &to, world);
    hw_delays_door_add(&door, &from, world);
    hw_delays_door_add(&door, &edge, world); /* MPI_PROC_NULL */
    send(0x700, 1, 1, 0);
    wait_at_door(0x701, &door);
    assert_written(WAITALL, 0x701,
                   "\"from\": 2, \"tag\": 7, \"waits\": 1, \"wait_ns\": 800000, \"both_ns\": 800000}");
    hw_delays_door_add(&door, &other, world);
    wait_at_door(0x702, &door);
    assert_written(WAITALL, 0x702, ", \"waits\": 1, \"wait_ns\": 800000}");
    assert_written(WAITALL, 0x702, "\"from\": 2, \"tag\": 7, \"shared_ns\": 800000");
    assert_written(WAITALL, 0x702, "\"from\": 3, \"tag\": 7, \"shared_ns\": 800000");
}

static void doors_with_a_partner_that_is_not_known(void **state)
{
    (void)state;
    begin();
    const struct hw_delay_who any = with(HW_DELAY_NOBODY, HW_DELAY_ANYBODY, 7);
    struct hw_delay_who one = {GRID, HW_DELAY_NOBODY, 2, 7};
    struct hw_delay_door door = {0}, many = {0};
    hw_delays_door_add(&door, &one, grid);
    hw_delays_door_add(&door, &any, world);
    wait_at_door(0x801, &door);
    assert_written(WAITALL, 0x801, ", \"waits\": 1, \"wait_ns\": 800000, \"unknown_ns\": 800000}");
    assert_written(WAITALL, 0x801, "\"from\": 2, \"tag\": 7, \"shared_ns\": 800000");
    for (one.takes = 1; one.takes <= HW_DELAY_PARTNER_COUNT; one.takes++)
        hw_delays_door_add(&many, &one, grid);
    wait_at_door(0x802, &many);
    assert_written(WAITALL, 0x802, ", \"waits\": 1, \"wait_ns\": 800000}");
    hw_delays_door_add(&many, &one, grid); /* no room for it */
    wait_at_door(0x803, &many);
    assert_written(WAITALL, 0x803, ", \"waits\": 1, \"wait_ns\": 800000, \"unknown_ns\": 800000}");
}

/* As north and south of a grid: in turn, without a collective of the world. */
static void partners_any_distance_apart_are_told_apart(void **state)
{
    (void)state;
    enum { ROUND_COUNT = 100 };
    static const int partners[] = {33, 65, 97, 161, 289};
    begin();
    send_in_grid(0x900, 1, 0);
    for (int round = 0; round < ROUND_COUNT; round++)
        for (uintptr_t i = 0; i < 5; i++)
            send_in_grid(0x901 + i, i ? 1 : 1000, partners[i]);
    for (uintptr_t i = 0; i < 5; i++)
        assert_written(SEND, 0x901 + i, "\"looks\": 100, \"before_gap_ns\": 100000000, \"before\"");
}

static uint64_t number_in(const char *line, const char *name)
{
    const char *end = strchr(line, '\n'), *found = strstr(line, name);
    return found && found < end ? strtoull(found + strlen(name), NULL, 10) : 0;
}

/* More than are kept: what is not known is counted as that, and no time twice. */
static void partners_beyond_the_kept_are_counted_as_lost(void **state)
{
    (void)state;
    enum { PARTNER_COUNT = 300, ROUND_COUNT = 3 };
    begin();
    send_in_grid(0xa00, 1, 0);
    for (int round = 0; round < ROUND_COUNT; round++)
        for (int dest = 1; dest <= PARTNER_COUNT; dest++)
            send_in_grid(0xa01, 1000, dest);
    char *text = written_by(hw_delays_write_exchanges), site[32];
    int length_of_site = snprintf(site, sizeof site, "\"site\": %u,",
                                  hw_sites_index(hw_sites_find((void *)0xa01, names[SEND], 8)));
    uint64_t lost = 0, count = 0;
    for (const char *at = text; (at = strstr(at, site)); at += length_of_site) {
        count++;
        lost += number_in(at, "\"lost\": ");
        assert_int_equal(number_in(at, "\"looks\": ") + number_in(at, "\"lost\": "), ROUND_COUNT);
        assert_in_range(number_in(at, "\"before_gap_ns\": "), 0,
                        (uint64_t)PARTNER_COUNT * ROUND_COUNT * HW_NS_PER_MS);
    }
    free(text);
    assert_int_equal(count, PARTNER_COUNT);
    assert_in_range(lost, 1, (ROUND_COUNT - 1) * PARTNER_COUNT + PARTNER_COUNT - 1);
    const struct hw_delay_who all = with(HW_DELAY_ALL, HW_DELAY_ALL, -1);
    call(ALLREDUCE, 0xa02, 700, 900, &all); /* after which all is known again */
    for (int dest = 1; dest <= 4; dest++)
        send_in_grid(0xa03, dest == 1 ? 40 : 1, dest);
    for (int dest = 1; dest <= 4; dest++) {
        char expected[96];
        snprintf(expected, sizeof expected, "\"to\": %d, \"tag\": 5, \"looks\": 1, \"before_gap_ns\": 40000,",
                 dest);
        assert_written(SEND, 0xa03, expected);
    }
}

static void many_partners_are_bounded(void **state)
{
    (void)state;
    begin();
    for (uintptr_t i = 0; i < 3000; i++)
        receive(0x10000 + i, 100, 100, (int)(i % SIZE));
    char *text = written_by(hw_delays_write_exchanges);
    int lines = 0;
    for (const char *at = text; (at = strstr(at, "\"id\"")); at++)
        lines++;
    assert_in_range(lines, 500, 1024 + 1);
    assert_non_null(strstr(text, "\"waits\": 2")); /* thousands, in the one for the rest */
    free(text);
}

/* Who exchanges nothing with a rank need not have come for it. */
static void collectives_that_are_for_all(void **state)
{
    (void)state;
    static const char *const all[] = {"Barrier",  "Allreduce",  "Allgatherv",
                                      "Alltoall", "Alltoall_c", "Reduce_scatter"};
    static const char *const others[] = {"Alltoallv", "Alltoallv_c", "Alltoallw", "Bcast", "Reduce", "Scan"};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        assert_true(hw_delays_is_for_all(all[i]));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(hw_delays_is_for_all(others[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_calls_leave_nothing),
        cmocka_unit_test(computing_is_put_down_to_what_it_delayed),
        cmocka_unit_test(events_are_counted_on),
        cmocka_unit_test(waits_are_passed_on),
        cmocka_unit_test(ranks_are_those_of_the_world),
        cmocka_unit_test(ranks_outlive_their_communicator),
        cmocka_unit_test(the_world_together_begins_anew),
        cmocka_unit_test(who_waits_for_a_root),
        cmocka_unit_test(doors_of_one_partner_and_of_several),
        cmocka_unit_test(doors_with_a_partner_that_is_not_known),
        cmocka_unit_test(partners_any_distance_apart_are_told_apart),
        cmocka_unit_test(partners_beyond_the_kept_are_counted_as_lost),
        cmocka_unit_test(many_partners_are_bounded),
        cmocka_unit_test(collectives_that_are_for_all),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
