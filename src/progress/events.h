/* SPDX-License-Identifier: BSD-3-Clause */
/* What the trigger "events" (trigger.h) keeps: an agent sleeps until the transport's sockets have something
 * to do.
 *
 * Two epoll sets over the same sockets: one edge-triggered, to sleep on (an event is reported once,
 * however long the data stays unread), one level-triggered, to ask whether data is still unread after a
 * poll. The sockets' data and flags are never touched. */
#ifndef HW_PROGRESS_EVENTS_H
#define HW_PROGRESS_EVENTS_H

#include "progress/sockets.h"

#include <stdbool.h>
#include <stdint.h>

enum { HW_EVENTS_MAX_SOCKETS = 256 };

struct hw_events {
    int edge_fd;
    int level_fd;
    int interrupt_fd; /* an eventfd in the edge-triggered set */
    int added_fd;     /* one more there, of somebody else's; -1: none */
    int directory_fd; /* sockets are listed from it; -1 if there is none */
    dev_t directory_device;
    ino_t directory_inode; /* by which it is known again */
    int socket_count;
    long descriptor_count; /* of the process, at the last listing */
    uint64_t listed_ns;    /* when that was */
    bool has_strangers;    /* sockets in the sets that are none of this process any more */
    struct hw_socket sockets[HW_EVENTS_MAX_SOCKETS];
    int unread_bytes[HW_EVENTS_MAX_SOCKETS]; /* at the last ignore_unread; -1: never asked */
};

#endif
