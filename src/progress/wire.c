/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress/wire.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LOOKS_PER_LISTING = 16, LISTINGS_IN_VAIN = 8 };

/* Two first looks lie around the transfer of something large. */
#define FEW_BYTES (UINT64_C(64) * 1024)

/* More and the other end may have to stop. */
#define MOST_UNREAD_BYTES (UINT64_C(256) * 1024)

/* Only the fields up to the one at LAST_OFFSET are asked for: older kernels know no more. */
static bool read_info(int fd, size_t last_offset, struct tcp_info *info)
{
    socklen_t length = sizeof *info;
    memset(info, 0, sizeof *info);
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &length) == 0 &&
           length >= last_offset + sizeof(uint64_t);
}

static bool add_counters(int fd, struct hw_profile_wire *sums)
{
    struct tcp_info info;
    if (!read_info(fd, offsetof(struct tcp_info, tcpi_bytes_received), &info))
        return false;
    sums->sent_bytes += info.tcpi_bytes_acked;
    sums->received_bytes += info.tcpi_bytes_received;
    return true;
}

static bool add_handled(int fd, struct hw_wire_handled *handled)
{
    struct tcp_info info;
    if (!read_info(fd, offsetof(struct tcp_info, tcpi_bytes_retrans), &info))
        return false;
    handled->written_bytes += info.tcpi_bytes_sent - info.tcpi_bytes_retrans + info.tcpi_notsent_bytes;
    handled->read_bytes += info.tcpi_bytes_received;
    return true;
}

bool hw_wire_handled(const struct hw_wire *listed, struct hw_wire_handled *handled)
{
    int known_count = 0;
    *handled = (struct hw_wire_handled){.unread_bytes = hw_wire_unread(listed)};
    for (int i = 0; i < listed->count && !listed->is_too_many; i++)
        known_count += add_handled(listed->sockets[i].fd, handled);
    handled->read_bytes -= handled->unread_bytes; /* asked first: what has come since counts as read */
    return known_count > 0;
}

/* Sums over the sockets listed; returns how many of them could be read. */
static int sum_up(const struct hw_wire *listed, struct hw_profile_wire *sums)
{
    int known_count = 0;
    *sums = (struct hw_profile_wire){0};
    for (int i = 0; i < listed->count && !listed->is_too_many; i++)
        known_count += add_counters(listed->sockets[i].fd, sums);
    return known_count;
}

/* Programs look from threads with little stack. What else the kernel tells of an address tells no connection
 * from another. */
struct end {
    sa_family_t family;
    in_port_t port;
    unsigned char address[sizeof(struct in6_addr)];
};

struct ends {
    struct end mine, peer;
};

static struct end end_of(const struct sockaddr_storage *name)
{
    struct sockaddr_in name4;
    struct sockaddr_in6 name6;
    struct end end = {.family = name->ss_family};
    memcpy(&name4, name, sizeof name4);
    memcpy(&name6, name, sizeof name6);
    end.port = end.family == AF_INET ? name4.sin_port : name6.sin6_port;
    if (end.family == AF_INET)
        memcpy(end.address, &name4.sin_addr, sizeof name4.sin_addr);
    else
        memcpy(end.address, &name6.sin6_addr, sizeof name6.sin6_addr);
    return end;
}

static bool is_same(const struct end *one, const struct end *other)
{
    return one->family == other->family && one->port == other->port &&
           memcmp(one->address, other->address, sizeof one->address) == 0;
}

static bool find_ends(int fd, struct ends *ends)
{
    struct sockaddr_storage name = {0};
    socklen_t length = sizeof name;
    memset(ends, 0, sizeof *ends);
    if (getsockname(fd, (struct sockaddr *)&name, &length) != 0)
        return false;
    ends->mine = end_of(&name);
    length = sizeof name;
    if (getpeername(fd, (struct sockaddr *)&name, &length) != 0)
        return false;
    ends->peer = end_of(&name);
    return true;
}

/* Some transports send to their own process through a connection: that is no wire. Both its ends are here. */
static void leave_out_own(struct hw_wire *listed)
{
    struct ends ends[HW_WIRE_MAX_SOCKETS];
    bool is_own[HW_WIRE_MAX_SOCKETS] = {false};
    for (int i = 0; i < listed->count; i++) {
        is_own[i] = !find_ends(listed->sockets[i].fd, &ends[i]); /* closed meanwhile */
        for (int j = 0; j < i; j++)
            if (is_same(&ends[i].mine, &ends[j].peer) && is_same(&ends[i].peer, &ends[j].mine))
                is_own[i] = is_own[j] = true;
    }
    int kept = 0;
    for (int i = 0; i < listed->count; i++)
        if (!is_own[i])
            listed->sockets[kept++] = listed->sockets[i];
    listed->count = kept;
}

static void list(struct hw_wire *listed)
{
    int directory = hw_sockets_open();
    listed->count = hw_sockets_list(directory, listed->sockets, HW_WIRE_MAX_SOCKETS);
    if (directory >= 0)
        close(directory);
    listed->is_too_many = listed->count == HW_WIRE_MAX_SOCKETS;
    listed->age = 0;
    leave_out_own(listed);
}

/* Connections are often made by the first large message: then the very next look needs them. A descriptor
 * more or less tells most; but one that was being connected is connected later, and one closed may have been
 * replaced. So where a socket is gone, or hardly anything was seen since the last first look, the data may
 * have taken another way, and it is looked for, as long as this finds something now and then. */
static int list_and_sum_up(struct hw_wire *listed, struct hw_profile_wire *sums)
{
    long count_now = hw_sockets_descriptor_count();
    bool is_new = listed->count == 0 || count_now != listed->descriptor_count;
    listed->descriptor_count = count_now;
    if (is_new || ++listed->age >= LOOKS_PER_LISTING)
        list(listed);
    int known_count = sum_up(listed, sums);
    uint64_t bytes = sums->sent_bytes + sums->received_bytes;
    bool is_seen = bytes - listed->last_bytes >= FEW_BYTES;
    listed->vain_count = is_seen ? 0 : listed->vain_count + 1;
    if (listed->age > 0 &&
        (known_count < listed->count || (!is_seen && listed->vain_count <= LISTINGS_IN_VAIN))) {
        list(listed);
        known_count = sum_up(listed, sums);
    }
    listed->last_bytes = sums->sent_bytes + sums->received_bytes;
    return known_count;
}

bool hw_wire_look(struct hw_wire *listed, struct hw_profile_wire *sums, bool is_first)
{
    return (is_first ? list_and_sum_up(listed, sums) : sum_up(listed, sums)) > 0;
}

static uint64_t bytes_of(const struct hw_socket *socket, unsigned long request)
{
    int bytes = 0;
    return ioctl(socket->fd, request, &bytes) == 0 && bytes > 0 ? (uint64_t)bytes : 0;
}

static uint64_t sum(const struct hw_wire *listed, unsigned long request)
{
    uint64_t sum_bytes = 0;
    for (int i = 0; i < listed->count && !listed->is_too_many; i++)
        sum_bytes += bytes_of(&listed->sockets[i], request);
    return sum_bytes;
}

uint64_t hw_wire_queued(const struct hw_wire *listed) { return sum(listed, SIOCOUTQ); }

uint64_t hw_wire_unsent(const struct hw_wire *listed) { return sum(listed, SIOCOUTQNSD); }

uint64_t hw_wire_unread(const struct hw_wire *listed) { return sum(listed, SIOCINQ); }

bool hw_wire_is_busy(const struct hw_wire *listed)
{
    bool is_busy = false;
    for (int i = 0; i < listed->count && !listed->is_too_many; i++) {
        const struct hw_socket *socket = &listed->sockets[i];
        uint64_t unread_bytes = bytes_of(socket, SIOCINQ);
        if (bytes_of(socket, SIOCOUTQ) >= FEW_BYTES && unread_bytes <= MOST_UNREAD_BYTES)
            is_busy = true;
        else if (unread_bytes > 0)
            return false;
    }
    return is_busy;
}

bool hw_wire_read(struct hw_profile_wire *sums, bool is_first)
{
    static struct hw_wire listed;
    return hw_wire_look(&listed, sums, is_first);
}
