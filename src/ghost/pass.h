/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes descriptors from process to process of a node, over sockets that are nowhere in the file system and
 * are there during MPI_Init* alone. Not by /proc/PID/fd, which is closed between processes that have a user
 * namespace each, as in some containers (doc/adr/0013); that is the second way.
 *
 * Any user of the machine may send to such a socket, or fill it. So who takes a descriptor must know of what
 * file it is to be. */
#ifndef HW_GHOST_PASS_H
#define HW_GHOST_PASS_H

#include "shm/file_identity.h"

#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

/* Where a process can be reached: for the others of its node, by a call of MPI. */
struct hw_ghost_peer {
    struct sockaddr_un address;
    uint32_t length; /* 0: nowhere */
    uint32_t unused;
};

/* Returns a socket with an address that nobody has, or -1. The caller closes it. */
int hw_ghost_pass_open(struct hw_ghost_peer *own);

/* Does not wait. If it does not arrive, the receiver takes the second way. */
void hw_ghost_pass_send(int socket_fd, const struct hw_ghost_peer *to, int fd);

/* Looks through what is in the socket already. `found` has a descriptor for each of the `count` files, -1 for
 * those that are still to be found. What is of no such file is closed. */
void hw_ghost_pass_receive(int socket_fd, const struct hw_file_identity *files, int count, int *found);

/* The second way. Returns the descriptor, or -1. */
int hw_ghost_pass_open_of(pid_t owner, int number, struct hw_file_identity file);

#endif
