/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress/sockets.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_connected_tcp(int fd, ino_t *inode)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISSOCK(status.st_mode))
        return false;
    int domain = 0, type = 0;
    socklen_t length = sizeof domain;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) != 0 ||
        (domain != AF_INET && domain != AF_INET6))
        return false;
    length = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_STREAM)
        return false;
    struct sockaddr_storage peer;
    length = sizeof peer;
    if (getpeername(fd, (struct sockaddr *)&peer, &length) != 0)
        return false;
    *inode = status.st_ino;
    return true;
}

/* One entry of getdents64(2). */
struct directory_entry {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

int hw_sockets_open(void) { return open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

/* readdir(3) would malloc, and with that give the progress thread an arena of its own. */
int hw_sockets_list(int directory, struct hw_socket *sockets, int capacity)
{
    _Alignas(struct directory_entry) char entries[1024]; /* of a thread with little stack, perhaps */
    if (directory < 0 || lseek(directory, 0, SEEK_SET) != 0)
        return 0;
    int count = 0;
    for (long size; (size = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0;) {
        for (long at = 0; at < size && count < capacity;) {
            const struct directory_entry *entry = (const struct directory_entry *)(entries + at);
            at += entry->length;
            int fd = entry->name[0] >= '0' && entry->name[0] <= '9' ? atoi(entry->name) : -1;
            if (fd >= 0 && is_connected_tcp(fd, &sockets[count].inode))
                sockets[count++].fd = fd;
        }
    }
    return count;
}

long hw_sockets_descriptor_count(void)
{
    struct stat status;
    return stat("/proc/self/fd", &status) == 0 && status.st_size > 0 ? (long)status.st_size : -1;
}
