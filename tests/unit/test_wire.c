/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what TCP connections to other processes carry is counted, on those too that came without the
 * number of descriptors telling so: connected later than made, or in the place of another. What a process
 * sends to itself is not. While what is queued would hold up every answer, reading is in vain. */
#include "progress/wire.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { BYTES = 20000, ROUNDS = 5, MAX_PEER_COUNT = 16 };

static struct sockaddr_in address, own_address;
static int own_listener;
static pid_t peer;

static int listen_at(struct sockaddr_in *where)
{
    socklen_t length = sizeof *where;
    *where = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    return bind(listener, (struct sockaddr *)where, length) == 0 && listen(listener, MAX_PEER_COUNT) == 0 &&
                   getsockname(listener, (struct sockaddr *)where, &length) == 0
               ? listener
               : -1;
}

/* The other process: accepts every connection and reads what comes, until it is killed. A single byte it
 * sends back. */
static _Noreturn void serve(int listener)
{
    static char data[BYTES];
    struct pollfd watched[MAX_PEER_COUNT] = {{.fd = listener, .events = POLLIN}};
    int count = 1;
    for (;;) {
        poll(watched, (nfds_t)count, -1);
        for (int i = count - 1; i > 0; i--)
            if (watched[i].revents) {
                ssize_t length = recv(watched[i].fd, data, sizeof data, 0);
                if (length == 1)
                    send(watched[i].fd, data, 1, 0);
                if (length > 0)
                    continue;
                close(watched[i].fd);
                watched[i] = watched[--count];
            }
        if (watched[0].revents && count < MAX_PEER_COUNT)
            watched[count++] = (struct pollfd){.fd = accept(listener, NULL, NULL), .events = POLLIN};
    }
}

static int start(void **state)
{
    (void)state;
    own_listener = listen_at(&own_address);
    int listener = listen_at(&address);
    if (own_listener < 0 || listener < 0 || (peer = fork()) < 0)
        return -1;
    if (peer == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(listener);
    }
    close(listener);
    return 0;
}

static int end(void **state)
{
    (void)state;
    kill(peer, SIGKILL);
    return waitpid(peer, NULL, 0) == peer ? 0 : -1;
}

static int connect_to(int client, struct sockaddr_in *where)
{
    assert_int_equal(connect(client, (struct sockaddr *)where, sizeof *where), 0);
    return client;
}

/* The socket was there before: as many descriptors are open as at the last look. */
static int connect_in_place(int client)
{
    struct hw_profile_wire unused;
    hw_wire_read(&unused, true);
    return connect_to(client, &address);
}

/* Everything sent has arrived. */
static void carry(int from)
{
    static char data[BYTES];
    int left = 0;
    assert_int_equal(send(from, data, sizeof data, 0), BYTES);
    while (ioctl(from, SIOCOUTQ, &left) == 0 && left > 0)
        usleep(100);
}

static void assert_counted(int client)
{
    struct hw_profile_wire before, after;
    assert_true(hw_wire_read(&before, true));
    carry(client);
    assert_true(hw_wire_read(&after, false));
    assert_int_equal(after.sent_bytes - before.sent_bytes, BYTES);
}

static void counted_when_connected_later(void **state)
{
    (void)state;
    struct hw_profile_wire none;
    int first = socket(AF_INET, SOCK_STREAM, 0);
    assert_false(hw_wire_read(&none, true)); /* nothing connected yet */
    assert_counted(connect_in_place(first));
    /* One more, while the first stays and says nothing new; again the number does not tell. */
    int second = socket(AF_INET, SOCK_STREAM, 0);
    assert_counted(connect_in_place(second));
    close(first);
    close(second);
}

static void counted_in_the_place_of_another(void **state)
{
    (void)state;
    struct hw_profile_wire unused;
    int now = connect_to(socket(AF_INET, SOCK_STREAM, 0), &address);
    assert_true(hw_wire_read(&unused, true));
    for (int i = 0; i < ROUNDS; i++) {
        int old = now;
        now = connect_to(socket(AF_INET, SOCK_STREAM, 0), &address);
        close(old);
        assert_counted(now);
    }
    close(now);
}

static void own_connection_is_no_wire(void **state)
{
    (void)state;
    struct hw_profile_wire before, after;
    int other = connect_to(socket(AF_INET, SOCK_STREAM, 0), &address);
    int client = connect_to(socket(AF_INET, SOCK_STREAM, 0), &own_address);
    int server = accept(own_listener, NULL, NULL);
    assert_true(server >= 0);
    assert_true(hw_wire_read(&before, true));
    carry(client);
    assert_true(hw_wire_read(&after, false));
    assert_int_equal(after.sent_bytes, before.sent_bytes);
    assert_int_equal(after.received_bytes, before.received_bytes);
    assert_counted(other);
    close(other);
    close(client);
    close(server);
}

static void wait_until(int fd, unsigned long request, bool is_any)
{
    int bytes = 0;
    while (ioctl(fd, request, &bytes) != 0 || (bytes > 0) != is_any)
        usleep(100);
}

/* What is queued leaves by itself, as far as anybody reads. What has come by another connection can be
 * answered at once. */
static void busy_while_an_answer_would_wait(void **state)
{
    (void)state;
    static const char data[BYTES];
    struct hw_wire listed = {0};
    struct hw_profile_wire unused;
    int full = connect_to(socket(AF_INET, SOCK_STREAM, 0), &address);
    int other = connect_to(socket(AF_INET, SOCK_STREAM, 0), &address);
    assert_true(hw_wire_look(&listed, &unused, true));
    assert_false(hw_wire_is_busy(&listed));
    assert_int_equal(send(other, data, 1, 0), 1);
    wait_until(other, SIOCINQ, true);
    kill(peer, SIGSTOP);
    while (send(full, data, sizeof data, MSG_DONTWAIT) > 0)
        ;
    assert_false(hw_wire_is_busy(&listed));
    char answer;
    assert_int_equal(recv(other, &answer, 1, 0), 1);
    assert_true(hw_wire_is_busy(&listed));
    kill(peer, SIGCONT);
    wait_until(full, SIOCOUTQ, false);
    assert_false(hw_wire_is_busy(&listed));
    close(full);
    close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counted_when_connected_later),
        cmocka_unit_test(counted_in_the_place_of_another),
        cmocka_unit_test(own_connection_is_no_wire),
        cmocka_unit_test(busy_while_an_answer_would_wait),
    };
    return cmocka_run_group_tests_name("wire", tests, start, end);
}
