/* SPDX-License-Identifier: BSD-3-Clause */
/* This file finds the TCP connections open in this process, the transport's among them, without touching
 * them. */
#ifndef HW_PROGRESS_SOCKETS_H
#define HW_PROGRESS_SOCKETS_H

#include <sys/types.h>

struct hw_socket {
    int fd;
    ino_t inode; /* tells a new socket from an old one that had the same number */
};

/* The directory to read below, which the caller closes; -1 if /proc is not there. Who lists from a thread of
 * ours keeps it open: to open it takes the lowest free number, which programs of one thread count on
 * (close(0), then open). */
int hw_sockets_open(void);

/* Lists connected TCP sockets, at most `capacity`; some 1 us per descriptor. Returns how many were written; 0
 * without a directory. */
int hw_sockets_list(int directory, struct hw_socket *sockets, int capacity);

/* Number of descriptors open in this process, or -1 where the kernel does not tell cheaply (before
 * Linux 6.2). One stat(2): cheap enough to ask whether a new listing is due. */
long hw_sockets_descriptor_count(void);

#endif
