/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/pass.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What a stranger may have sent before, and goes on sending. */
enum { LETTERS_MAX = 4096 };

union descriptor_room {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

int hw_ghost_pass_open(struct hw_ghost_peer *own)
{
    socklen_t length = sizeof own->address;
    own->address.sun_family = AF_UNIX;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    /* The kernel chooses an address nobody has. */
    if (fd >= 0 && bind(fd, (struct sockaddr *)&own->address, sizeof own->address.sun_family) == 0 &&
        getsockname(fd, (struct sockaddr *)&own->address, &length) == 0) {
        own->length = length;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

void hw_ghost_pass_send(int socket_fd, const struct hw_ghost_peer *to, int fd)
{
    union descriptor_room room = {0};
    struct sockaddr_un address = to->address;
    char nothing = 0;
    struct iovec text = {.iov_base = &nothing, .iov_len = 1};
    struct msghdr message = {.msg_name = &address,
                             .msg_namelen = to->length,
                             .msg_iov = &text,
                             .msg_iovlen = 1,
                             .msg_control = &room,
                             .msg_controllen = sizeof room};
    if (socket_fd < 0 || to->length == 0)
        return;
    room.head.cmsg_level = SOL_SOCKET;
    room.head.cmsg_type = SCM_RIGHTS;
    room.head.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&room.head), &fd, sizeof fd);
    ssize_t sent = sendmsg(socket_fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)sent;
}

/* False: nothing more is there. *fd is -1 where no descriptor came. */
static bool take(int socket_fd, int *fd)
{
    union descriptor_room room;
    char nothing;
    struct iovec text = {.iov_base = &nothing, .iov_len = 1};
    struct msghdr message = {
        .msg_iov = &text, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
    *fd = -1;
    if (recvmsg(socket_fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
        return false;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(fd, CMSG_DATA(head), sizeof *fd);
    return true;
}

void hw_ghost_pass_receive(int socket_fd, const struct hw_file_identity *files, int count, int *found)
{
    int fd, missing = count;
    for (int i = 0; i < LETTERS_MAX && missing > 0 && socket_fd >= 0 && take(socket_fd, &fd); i++) {
        int file = 0;
        while (file < count && (found[file] >= 0 || !hw_file_is(fd, files[file])))
            file++;
        if (file < count) {
            found[file] = fd;
            missing--;
        } else if (fd >= 0) {
            close(fd);
        }
    }
}

int hw_ghost_pass_open_of(pid_t owner, int number, struct hw_file_identity file)
{
    char path[48];
    if (owner <= 0)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)owner, number);
    int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || hw_file_is(fd, file))
        return fd;
    close(fd);
    return -1;
}
