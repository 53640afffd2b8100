/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the sockets of the process are found: connected TCP only, more descriptors than one read of
 * the directory returns, never past the capacity, and no memory is allocated for it (the progress thread
 * would get an arena of its own). */
#include "progress/sockets.h"

#include <fcntl.h>
#include <malloc.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { OTHER_COUNT = 300, CAPACITY = 8 };

static int directory;

struct pair {
    int listener, client, server;
};

static struct pair connect_pair(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    struct pair pair = {socket(AF_INET, SOCK_STREAM, 0), socket(AF_INET, SOCK_STREAM, 0), -1};
    assert_int_equal(bind(pair.listener, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(pair.listener, 1), 0);
    assert_int_equal(getsockname(pair.listener, (struct sockaddr *)&address, &length), 0);
    assert_int_equal(connect(pair.client, (struct sockaddr *)&address, length), 0);
    pair.server = accept(pair.listener, NULL, NULL);
    assert_true(pair.server >= 0);
    return pair;
}

static void close_pair(const struct pair *pair)
{
    close(pair->listener);
    close(pair->client);
    close(pair->server);
}

static bool is_listed(const struct hw_socket *sockets, int count, int fd)
{
    bool is_found = false;
    for (int i = 0; i < count; i++)
        is_found = is_found || sockets[i].fd == fd;
    return is_found;
}

static void only_connected_tcp_is_listed(void **state)
{
    (void)state;
    struct hw_socket sockets[CAPACITY];
    int before = hw_sockets_list(directory, sockets, CAPACITY);
    int datagram = socket(AF_INET, SOCK_DGRAM, 0);
    struct pair pair = connect_pair();
    int count = hw_sockets_list(directory, sockets, CAPACITY);
    assert_int_equal(count, before + 2);
    assert_true(is_listed(sockets, count, pair.client));
    assert_true(is_listed(sockets, count, pair.server));
    close_pair(&pair);
    close(datagram);
    assert_int_equal(hw_sockets_list(directory, sockets, CAPACITY), before);
}

static void sockets_behind_many_descriptors_are_listed(void **state)
{
    (void)state;
    static int others[OTHER_COUNT];
    struct hw_socket sockets[CAPACITY];
    for (int i = 0; i < OTHER_COUNT; i++)
        assert_true((others[i] = open("/dev/null", O_RDONLY)) >= 0);
    struct pair pair = connect_pair();
    size_t allocated_before = mallinfo2().uordblks;
    int count = hw_sockets_list(directory, sockets, CAPACITY);
    assert_int_equal(mallinfo2().uordblks, allocated_before);
    assert_true(is_listed(sockets, count, pair.client));
    assert_true(is_listed(sockets, count, pair.server));
    assert_int_equal(hw_sockets_list(directory, sockets, 1), 1);
    close_pair(&pair);
    for (int i = 0; i < OTHER_COUNT; i++)
        close(others[i]);
}

/* Programs of one thread count on the lowest free number: close(0), then open. */
static void listing_takes_no_descriptor(void **state)
{
    (void)state;
    struct hw_socket sockets[CAPACITY];
    struct rlimit before, none;
    struct pair pair = connect_pair();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int count = hw_sockets_list(directory, sockets, CAPACITY);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_true(is_listed(sockets, count, pair.client));
    close_pair(&pair);
}

static void nothing_is_listed_without_a_directory(void **state)
{
    (void)state;
    struct hw_socket sockets[CAPACITY];
    assert_int_equal(hw_sockets_list(-1, sockets, CAPACITY), 0);
}

int main(void)
{
    directory = hw_sockets_open();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_connected_tcp_is_listed),
        cmocka_unit_test(sockets_behind_many_descriptors_are_listed),
        cmocka_unit_test(listing_takes_no_descriptor),
        cmocka_unit_test(nothing_is_listed_without_a_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
