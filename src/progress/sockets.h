/* The TCP connections open in this process, found without touching them: the transport's among them. */
#ifndef HW_PROGRESS_SOCKETS_H
#define HW_PROGRESS_SOCKETS_H

#include <sys/types.h>

struct hw_socket {
    int fd;
    ino_t inode; /* tells a new socket from an old one that had the same number */
};

/* Lists connected TCP sockets, at most `capacity`. Reads /proc/self/fd; some 1 us per descriptor.
 * Returns how many were written; 0 if /proc is not there. */
int hw_sockets_list(struct hw_socket *sockets, int capacity);

/* Number of descriptors open in this process, or -1 where the kernel does not tell cheaply (before
 * Linux 6.2). One stat(2): cheap enough to ask whether a new listing is due. */
long hw_sockets_descriptor_count(void);

#endif
