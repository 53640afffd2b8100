#include "progress/wire.h"

#include "progress/sockets.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

enum { MAX_SOCKET_COUNT = 64, LOOKS_PER_LISTING = 16, LISTINGS_IN_VAIN = 8 };

/* Two first looks lie around the transfer of something large. */
#define FEW_BYTES (UINT64_C(64) * 1024)

/* Only the first fields are asked for: older kernels know no more. */
static bool add_counters(int fd, struct hw_profile_wire *wire)
{
    struct tcp_info info;
    socklen_t length = sizeof info;
    memset(&info, 0, sizeof info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0 ||
        length < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received)
        return false;
    wire->sent_bytes += info.tcpi_bytes_acked;
    wire->received_bytes += info.tcpi_bytes_received;
    return true;
}

static struct {
    struct hw_socket sockets[MAX_SOCKET_COUNT];
    int count, age;
    long descriptor_count;
} listed;

/* Sums over the sockets listed; returns how many of them could be read. */
static int sum_up(struct hw_profile_wire *wire)
{
    int known_count = 0;
    *wire = (struct hw_profile_wire){0};
    for (int i = 0; i < listed.count && listed.count < MAX_SOCKET_COUNT; i++)
        known_count += add_counters(listed.sockets[i].fd, wire);
    return known_count;
}

static void list(void)
{
    listed.count = hw_sockets_list(listed.sockets, MAX_SOCKET_COUNT);
    listed.age = 0;
}

/* Connections are often made by the first large message: then the very next look needs them. A descriptor
 * more or less tells most; but one that was being connected is connected later, and one closed may have been
 * replaced. So where a socket is gone, or hardly anything was seen since the last first look, the data may
 * have taken another way, and it is looked for, as long as this finds something now and then. */
static int list_and_sum_up(struct hw_profile_wire *wire)
{
    static uint64_t last_bytes;
    static int vain_count;
    long count_now = hw_sockets_descriptor_count();
    bool is_new = listed.count == 0 || count_now != listed.descriptor_count;
    listed.descriptor_count = count_now;
    if (is_new || ++listed.age >= LOOKS_PER_LISTING)
        list();
    int known_count = sum_up(wire);
    uint64_t bytes = wire->sent_bytes + wire->received_bytes;
    bool is_seen = bytes - last_bytes >= FEW_BYTES;
    vain_count = is_seen ? 0 : vain_count + 1;
    if (listed.age > 0 && (known_count < listed.count || (!is_seen && vain_count <= LISTINGS_IN_VAIN))) {
        list();
        known_count = sum_up(wire);
    }
    last_bytes = wire->sent_bytes + wire->received_bytes;
    return known_count;
}

bool hw_wire_read(struct hw_profile_wire *wire, bool is_first)
{
    return (is_first ? list_and_sum_up(wire) : sum_up(wire)) > 0;
}
