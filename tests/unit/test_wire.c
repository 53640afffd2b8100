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

static void counted_when_connected_later(void **state)
{
    (void)state;
    struct hw_profile_wire before, after;
    int client = socket(AF_INET, SOCK_STREAM, 0), spare = dup(listener);
    assert_false(hw_wire_read(&before, true)); /* nothing connected yet */
    assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
    close(spare);
    int server =
        accept(listener, NULL, NULL); /* in the place of the spare one: as many descriptors as before */
    assert_true(server >= 0);
    assert_true(hw_wire_read(&before, true));
    carry(client, server);
    assert_true(hw_wire_read(&after, false));
    assert_true(after.received_bytes - before.received_bytes >= BYTES);

    /* One more, while the first stays and says nothing new; again the number does not tell. */
    int other = socket(AF_INET, SOCK_STREAM, 0);
    spare = dup(listener);
    assert_true(hw_wire_read(&before, true)); /* lists: the number is another */
    assert_int_equal(connect(other, (struct sockaddr *)&address, sizeof address), 0);
    close(spare);
    int other_server = accept(listener, NULL, NULL);
    assert_true(hw_wire_read(&before, true));
    carry(other, other_server);
    assert_true(hw_wire_read(&after, false));
    assert_true(after.received_bytes - before.received_bytes >= BYTES);
    close(client);
    close(server);
    close(other);
    close(other_server);
}

static void counted_in_the_place_of_another(void **state)
{
    (void)state;
    struct hw_profile_wire before, after;
    int client = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
    int server = accept(listener, NULL, NULL);
    assert_true(hw_wire_read(&before, true));
    for (int i = 0; i < ROUNDS; i++) {
        int old_client = client, old_server = server;
        client = socket(AF_INET, SOCK_STREAM, 0);
        assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
        server = accept(listener, NULL, NULL);
        close(old_client);
        close(old_server);
        assert_true(hw_wire_read(&before, true));
        carry(client, server);
        assert_true(hw_wire_read(&after, false));
        assert_true(after.received_bytes - before.received_bytes >= BYTES);
    }
    close(client);
    close(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counted_when_connected_later),
        cmocka_unit_test(counted_in_the_place_of_another),
    };
    return cmocka_run_group_tests_name("wire", tests, start, NULL);
}
