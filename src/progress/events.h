/* SPDX-License-Identifier: BSD-3-Clause */
/* An agent waits here until the transport's sockets have something to do.
 *
 * Two epoll sets over the same sockets: one edge-triggered, to sleep on (an event is reported once,
 * however long the data stays unread), one level-triggered, to ask whether data is still unread after a
 * poll. The sockets' data and flags are never touched. One agent uses a set; not thread-safe. */
#ifndef HW_PROGRESS_EVENTS_H
#define HW_PROGRESS_EVENTS_H

#include "base/status.h"
#include "progress/sockets.h"

#include <stdbool.h>
#include <stdint.h>

enum { HW_EVENTS_MAX_SOCKETS = 256 };

struct hw_events {
    int edge_fd;
    int level_fd;
    int interrupt_fd; /* an eventfd in the edge-triggered set */
    int directory_fd; /* sockets are listed from it; -1 if there is none */
    dev_t directory_device;
    ino_t directory_inode; /* by which it is known again */
    int socket_count;
    long descriptor_count; /* of the process, at the last listing */
    uint64_t listed_ns;    /* when that was */
    struct hw_socket sockets[HW_EVENTS_MAX_SOCKETS];
    int unread_bytes[HW_EVENTS_MAX_SOCKETS]; /* at the last hw_events_ignore_unread; -1: never asked */
};

/* HW_NOMEM if the kernel gives no epoll descriptor. */
enum hw_status hw_events_open(struct hw_events *events);
void hw_events_close(struct hw_events *events);

/* False once the program has closed all descriptors, as daemons do, ours with them: what has their numbers
 * now is the program's. Nothing else here may be called then. Any thread. */
bool hw_events_are_there(const struct hw_events *events);

/* Has the agent woken by one more descriptor too, which somebody else reads and closes. */
void hw_events_add(struct hw_events *events, int fd);

/* Lists the sockets again if their number may have changed. Returns how many are watched. */
int hw_events_refresh(struct hw_events *events);

enum hw_event {
    HW_EVENT_NONE,    /* the time was up, or an interrupt */
    HW_EVENT_MESSAGE, /* little to read: a step of a handshake, or a small message */
    HW_EVENT_BULK,    /* much to read, or room to write again: a transfer is under way */
};

/* Sleeps until an event, at most timeout_ns. */
enum hw_event hw_events_wait(struct hw_events *events, uint64_t timeout_ns);

/* True if a watched socket has unread data. */
bool hw_events_is_data_waiting(struct hw_events *events);

/* Called when data was still waiting after many polls. A socket whose unread bytes have not changed since the
 * last such call is not the transport's (the polls do not read it): it is no longer asked about. */
void hw_events_ignore_unread(struct hw_events *events);

/* Ends the agent's wait. Any thread. */
void hw_events_interrupt(struct hw_events *events);

#endif
