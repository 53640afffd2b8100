/* Description: what TCP connections carry is counted, on those too that came without the number of
 * descriptors telling so: connected later than made, or in the place of another. */
#include "progress/wire.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { BYTES = 20000, ROUNDS = 5 };

static int listener;
static struct sockaddr_in address;

static int start(void **state)
{
    (void)state;
    socklen_t length = sizeof address;
    address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    listener = socket(AF_INET, SOCK_STREAM, 0);
    return bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 4) == 0 &&
                   getsockname(listener, (struct sockaddr *)&address, &length) == 0
               ? 0
               : -1;
}

/* `from` sends, and everything has arrived. */
static void carry(int from, int to)
{
    static char data[BYTES];
    assert_int_equal(send(from, data, sizeof data, 0), BYTES);
    for (ssize_t got = 0; got < BYTES;) {
        ssize_t more = recv(to, data, sizeof data, 0);
        assert_true(more > 0);
        got += more;
    }
}

struct connection {
    int client, server;
};

static int connect_client(int client)
{
    assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
    return client;
}

static struct connection accept_from(int client)
{
    struct connection made = {.client = client, .server = accept(listener, NULL, NULL)};
    assert_true(made.server >= 0);
    return made;
}

/* The client's socket was there before; the server's takes the place of a spare descriptor, so that as many
 * are open as before. */
static struct connection connect_in_place(int client)
{
    int spare = dup(listener);
    struct hw_profile_wire unused;
    hw_wire_read(&unused, true);
    connect_client(client);
    close(spare);
    return accept_from(client);
}

static void close_both(struct connection connection)
{
    close(connection.client);
    close(connection.server);
}

static void assert_counted(struct connection connection)
{
    struct hw_profile_wire before, after;
    assert_true(hw_wire_read(&before, true));
    carry(connection.client, connection.server);
    assert_true(hw_wire_read(&after, false));
    assert_true(after.received_bytes - before.received_bytes >= BYTES);
}

static void counted_when_connected_later(void **state)
{
    (void)state;
    struct hw_profile_wire none;
    int client = socket(AF_INET, SOCK_STREAM, 0);
    assert_false(hw_wire_read(&none, true)); /* nothing connected yet */
    struct connection first = connect_in_place(client);
    assert_counted(first);
    /* One more, while the first stays and says nothing new; again the number does not tell. */
    struct connection second = connect_in_place(socket(AF_INET, SOCK_STREAM, 0));
    assert_counted(second);
    close_both(first);
    close_both(second);
}

static void counted_in_the_place_of_another(void **state)
{
    (void)state;
    struct hw_profile_wire unused;
    struct connection now = accept_from(connect_client(socket(AF_INET, SOCK_STREAM, 0)));
    assert_true(hw_wire_read(&unused, true));
    for (int i = 0; i < ROUNDS; i++) {
        struct connection old = now;
        now = accept_from(connect_client(socket(AF_INET, SOCK_STREAM, 0)));
        close_both(old);
        assert_counted(now);
    }
    close_both(now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counted_when_connected_later),
        cmocka_unit_test(counted_in_the_place_of_another),
    };
    return cmocka_run_group_tests_name("wire", tests, start, NULL);
}
