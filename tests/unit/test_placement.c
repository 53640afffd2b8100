/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: which processes of a node become ghosts and whom they serve, on nodes with one, two and four
 * sockets, even and uneven, bound and not bound, given as the places of their processes. */
#include "world/topology.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PROCESSES_MAX = 32, TEXT_MAX = 256 };

/* The places as words: "0 0 1 1" socket and NUMA domain alike, "0.2" socket 0 and domain 2, "-" not bound. */
static int read_places(const char *text, struct hw_place *places)
{
    char copy[TEXT_MAX], *rest = NULL;
    int count = 0;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        struct hw_place *place = &places[count++];
        *place = (struct hw_place){-1, -1};
        int fields = sscanf(word, "%d.%d", &place->socket, &place->numa);
        if (fields == 1)
            place->numa = place->socket;
    }
    return count;
}

static void assert_placed(const char *where, struct hw_option_share wanted, int ghosts, const char *expected)
{
    struct hw_place places[PROCESSES_MAX];
    int servers[PROCESSES_MAX], count = read_places(where, places);
    char text[TEXT_MAX] = "";
    bool is_near, has_place = strspn(where, "- ") != strlen(where);
    assert_int_equal(hw_placement_assign(places, count, wanted, ghosts, servers, &is_near), HW_OK);
    for (int i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), i ? " %d" : "%d", servers[i]);
    assert_string_equal(text, expected);
    assert_int_equal(is_near, has_place);
}

static const struct hw_option_share one = {1, HW_OPTION_GHOSTS_PER_NODE};
static const struct hw_option_share two = {2, HW_OPTION_GHOSTS_PER_NODE};
static const struct hw_option_share one_a_socket = {1, HW_OPTION_GHOSTS_PER_SOCKET};
static const struct hw_option_share one_a_domain = {1, HW_OPTION_GHOSTS_PER_NUMA};

static void test_counts(void **state)
{
    (void)state;
    assert_int_equal(hw_placement_count(two, 0, 0), 2);
    assert_int_equal(hw_placement_count(two, 4, 8), 2);
    assert_int_equal(hw_placement_count(one_a_socket, 4, 8), 4);
    assert_int_equal(hw_placement_count(one_a_domain, 4, 8), 8);
    assert_int_equal(hw_placement_count((struct hw_option_share){2, HW_OPTION_GHOSTS_PER_NUMA}, 1, 3), 6);
    assert_int_equal(hw_placement_count(one_a_socket, 0, 0), -1);
    assert_int_equal(hw_placement_count((struct hw_option_share){0, HW_OPTION_GHOSTS_PER_SOCKET}, 0, 0), 0);
}

/* The last of the node, and everybody's turn. */
static void test_not_bound(void **state)
{
    (void)state;
    assert_placed("- -", one, 1, "1 1");
    assert_placed("- - - - -", one, 1, "4 4 4 4 4");
    assert_placed("- - - - - -", two, 2, "4 5 4 5 4 5");
    assert_placed("- - - - - - -", one_a_socket, 2, "5 6 5 6 5 5 6");
}

static void test_one_socket(void **state)
{
    (void)state;
    assert_placed("0 0 0 0 0", one, 1, "4 4 4 4 4");
    assert_placed("0 0 0 0 0", one_a_socket, 1, "4 4 4 4 4");
    assert_placed("0 0 0 0 0 0", two, 2, "4 5 4 5 4 5");
}

static void test_two_sockets(void **state)
{
    (void)state;
    /* By blocks and in turn. */
    assert_placed("0 0 0 1 1 1", one_a_socket, 2, "2 2 2 5 5 5");
    assert_placed("0 1 0 1 0 1", one_a_socket, 2, "4 5 4 5 4 5");
    assert_placed("0 0 0 1 1 1", two, 2, "2 2 2 5 5 5");
    /* One ghost for both. */
    assert_placed("0 0 0 1 1", one, 1, "2 2 2 2 2");
    assert_placed("0 0 1 1", one, 1, "3 3 3 3");
    /* Two on each. */
    assert_placed("0 0 0 0 1 1 1 1", (struct hw_option_share){2, HW_OPTION_GHOSTS_PER_SOCKET}, 4,
                  "2 3 2 3 6 7 6 7");
}

/* A socket keeps its last process, and the ghosts are where the others are. */
static void test_uneven_sockets(void **state)
{
    (void)state;
    assert_placed("0 0 0 0 1", one_a_socket, 2, "2 3 2 3 2");
    assert_placed("0 0 0 0 0 1 1", one_a_socket, 2, "4 4 4 4 4 6 6");
    assert_placed("0 0 0 0 0 0 1 1", two, 2, "4 5 4 5 4 5 4 5");
    assert_placed("0 0 0 0", one_a_socket, 2, "2 3 2 3");
}

static void test_four_sockets(void **state)
{
    (void)state;
    assert_placed("0 0 1 1 2 2 3 3", one_a_socket, 4, "1 1 3 3 5 5 7 7");
    assert_placed("0 1 2 3 0 1 2 3 0 1 2 3", one_a_socket, 4, "8 9 10 11 8 9 10 11 8 9 10 11");
    /* Two ghosts for four sockets: the users of the two others even out. */
    assert_placed("0 0 1 1 2 2 3 3", two, 2, "5 7 5 7 5 5 7 7");
}

/* Two NUMA domains a socket: nearest is the domain, then the socket. */
static void test_domains_in_sockets(void **state)
{
    (void)state;
    const char *eight = "0.0 0.0 0.1 0.1 1.2 1.2 1.3 1.3";
    assert_placed(eight, one_a_domain, 4, "1 1 3 3 5 5 7 7");
    assert_placed(eight, one_a_socket, 2, "3 3 3 3 7 7 7 7");
    assert_placed("0.0 0.0 0.0 0.1 0.1 1.2 1.2 1.3 1.3 1.3", one_a_socket, 2, "4 4 4 4 4 9 9 9 9 9");
    /* Bound to a socket but to no domain of it. */
    assert_placed("0.-1 0.-1 0.-1 1.-1 1.-1 1.-1", one_a_socket, 2, "2 2 2 5 5 5");
}

/* Those that are not bound go where there is less to do. */
static void test_partly_bound(void **state)
{
    (void)state;
    assert_placed("0 0 0 0 1 1 - -", one_a_socket, 2, "3 3 3 3 5 5 5 5");
}

/* A described machine in place of this one; the process is bound for real. */
static struct hw_topology find_on(const char *machine, const cpu_set_t *cores)
{
    struct hw_topology found;
    cpu_set_t before;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_int_equal(sched_setaffinity(0, sizeof *cores, cores), 0);
    setenv("HWLOC_SYNTHETIC", machine, 1);
    hw_topology_find(&found);
    unsetenv("HWLOC_SYNTHETIC");
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    return found;
}

static void test_described_machines(void **state)
{
    (void)state;
    cpu_set_t allowed, one_core;
    int core = 0;
    char machine[TEXT_MAX];
    sched_getaffinity(0, sizeof allowed, &allowed);
    while (!CPU_ISSET(core, &allowed))
        core++;
    CPU_ZERO(&one_core);
    CPU_SET(core, &one_core);
    /* Sockets of one core each, then of two domains with one core each; one more than this process's. */
    snprintf(machine, sizeof machine, "pack:%d core:1 pu:1", core + 2);
    struct hw_topology found = find_on(machine, &one_core);
#ifdef HW_HAVE_HWLOC
    assert_int_equal(found.socket_count, core + 2);
    assert_int_equal(found.place.socket, core);
    assert_int_equal(found.numa_count, 1);
    assert_int_equal(found.place.numa, 0);
    snprintf(machine, sizeof machine, "pack:%d numa:2 core:1 pu:1", core / 2 + 2);
    found = find_on(machine, &one_core);
    assert_int_equal(found.socket_count, core / 2 + 2);
    assert_int_equal(found.place.socket, core / 2);
    assert_int_equal(found.numa_count, 2 * (core / 2 + 2));
    assert_int_equal(found.place.numa, core);
    if (CPU_COUNT(&allowed) > 1) { /* bound to more than one socket: to none */
        snprintf(machine, sizeof machine, "pack:%d core:1 pu:1", CPU_SETSIZE - 1);
        found = find_on(machine, &allowed);
        assert_int_equal(found.socket_count, CPU_SETSIZE - 1);
        assert_int_equal(found.place.socket, -1);
    }
#else
    assert_int_equal(found.socket_count, 0);
    assert_int_equal(found.place.socket, -1);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_not_bound),
        cmocka_unit_test(test_one_socket),
        cmocka_unit_test(test_two_sockets),
        cmocka_unit_test(test_uneven_sockets),
        cmocka_unit_test(test_four_sockets),
        cmocka_unit_test(test_domains_in_sockets),
        cmocka_unit_test(test_partly_bound),
        cmocka_unit_test(test_described_machines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
