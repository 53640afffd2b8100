#include "progress/wire.h"

#include "progress/sockets.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

enum { MAX_SOCKET_COUNT = 64, LOOKS_PER_LISTING = 16 };

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

bool hw_wire_read(struct hw_profile_wire *wire, bool is_first)
{
    static struct hw_socket sockets[MAX_SOCKET_COUNT];
    static int socket_count, listing_age;
    static long descriptor_count;
    if (is_first) {
        /* Connections are often made by the first large message: then the very next look needs them. */
        long count_now = hw_sockets_descriptor_count();
        if (socket_count == 0 || count_now != descriptor_count || listing_age++ % LOOKS_PER_LISTING == 0)
            socket_count = hw_sockets_list(sockets, MAX_SOCKET_COUNT);
        descriptor_count = count_now;
    }
    *wire = (struct hw_profile_wire){0};
    bool is_known = false;
    for (int i = 0; i < socket_count && socket_count < MAX_SOCKET_COUNT; i++)
        is_known |= add_counters(sockets[i].fd, wire);
    return is_known;
}
