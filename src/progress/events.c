/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/clock.h"
#include "progress/trigger.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Without a cheap count of descriptors, list again this often. */
#define RELIST_NS (20 * HW_NS_PER_MS)

/* Handshakes of all transports at hand are shorter, segments of a bulk transfer longer. */
enum { BULK_BYTES = 8 * 1024 };

static void open_directory(struct hw_events *events)
{
    struct stat status;
    events->directory_fd = hw_sockets_open();
    if (events->directory_fd < 0 || fstat(events->directory_fd, &status) != 0)
        return;
    events->directory_device = status.st_dev;
    events->directory_inode = status.st_ino;
}

static bool is_there(const struct hw_triggers *triggers)
{
    const struct hw_events *events = &triggers->events;
    struct stat status;
    if (events->directory_fd < 0)
        return true;
    return fstat(events->directory_fd, &status) == 0 && status.st_dev == events->directory_device &&
           status.st_ino == events->directory_inode;
}

static bool hear(const struct hw_events *events, int fd)
{
    struct epoll_event edge = {.events = EPOLLIN | EPOLLET, .data.fd = fd};
    return epoll_ctl(events->edge_fd, EPOLL_CTL_ADD, fd, &edge) == 0;
}

static void forget_all(struct hw_events *events)
{
    events->socket_count = 0;
    events->descriptor_count = -1;
    events->listed_ns = 0;
    events->has_strangers = false;
}

static bool open_sets(struct hw_triggers *triggers)
{
    struct hw_events *events = &triggers->events;
    forget_all(events);
    events->added_fd = -1;
    events->edge_fd = epoll_create1(EPOLL_CLOEXEC);
    if (events->edge_fd < 0)
        return false;
    events->level_fd = epoll_create1(EPOLL_CLOEXEC);
    if (events->level_fd < 0)
        goto err_level;
    events->interrupt_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (events->interrupt_fd < 0)
        goto err_interrupt;
    if (!hear(events, events->interrupt_fd))
        goto err_add;
    open_directory(events);
    return true;

err_add:
    close(events->interrupt_fd);
err_interrupt:
    close(events->level_fd);
err_level:
    close(events->edge_fd);
    return false;
}

static void close_sets(struct hw_triggers *triggers)
{
    const struct hw_events *events = &triggers->events;
    close(events->interrupt_fd);
    close(events->level_fd);
    close(events->edge_fd);
    if (events->directory_fd >= 0)
        close(events->directory_fd);
}

static void interrupt(struct hw_triggers *triggers)
{
    uint64_t one = 1;
    ssize_t written = write(triggers->events.interrupt_fd, &one, sizeof one);
    (void)written; /* full means that an interrupt is already under way */
}

static int find(const struct hw_events *events, int fd)
{
    for (int i = 0; i < events->socket_count; i++)
        if (events->sockets[i].fd == fd)
            return i;
    return -1;
}

static bool is_watched(const struct hw_events *events, const struct hw_socket *socket)
{
    int known = find(events, socket->fd);
    return known >= 0 && events->sockets[known].inode == socket->inode;
}

static void watch(const struct hw_events *events, int fd)
{
    struct epoll_event edge = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.fd = fd};
    struct epoll_event level = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(events->edge_fd, EPOLL_CTL_ADD, fd, &edge);
    epoll_ctl(events->level_fd, EPOLL_CTL_ADD, fd, &level);
}

static void add(struct hw_triggers *triggers, int fd)
{
    triggers->events.added_fd = fd;
    hear(&triggers->events, fd);
}

/* An empty set has this number from now on. */
static bool empty(int epoll_fd)
{
    int fresh = epoll_create1(EPOLL_CLOEXEC);
    bool is_empty = fresh >= 0 && dup3(fresh, epoll_fd, O_CLOEXEC) == epoll_fd;
    if (fresh >= 0)
        close(fresh);
    return is_empty;
}

/* A socket that was closed here and lives on in a child of the program's stays in the sets, and cannot be
 * taken out any more: without its number nobody can name it. */
static void lose_strangers(struct hw_events *events)
{
    if (!empty(events->edge_fd))
        return;
    hear(events, events->interrupt_fd);
    if (events->added_fd >= 0)
        hear(events, events->added_fd);
    bool is_lost = empty(events->level_fd);
    forget_all(events);
    events->has_strangers = !is_lost;
}

/* A closed socket has left the epoll sets by itself, unless a child of the program's has it too; a number
 * used again counts as new by its inode. */
static void list_again(struct hw_events *events)
{
    struct hw_socket found[HW_EVENTS_MAX_SOCKETS];
    int count = hw_sockets_list(events->directory_fd, found, HW_EVENTS_MAX_SOCKETS);
    for (int i = 0; i < count; i++)
        if (!is_watched(events, &found[i]))
            watch(events, found[i].fd);
    for (int i = 0; i < count; i++) {
        events->sockets[i] = found[i];
        events->unread_bytes[i] = -1;
    }
    events->socket_count = count;
}

static int refresh(struct hw_triggers *triggers)
{
    struct hw_events *events = &triggers->events;
    if (events->has_strangers)
        lose_strangers(events);
    long descriptor_count = hw_sockets_descriptor_count();
    uint64_t now_ns = hw_clock_now_ns();
    bool is_due = descriptor_count < 0 ? now_ns - events->listed_ns > RELIST_NS
                                       : descriptor_count != events->descriptor_count;
    if (is_due) {
        list_again(events);
        events->descriptor_count = descriptor_count;
        events->listed_ns = now_ns;
    }
    return events->socket_count;
}

static int wait_ns(int epoll_fd, struct epoll_event *ready, int capacity, uint64_t timeout_ns)
{
#ifdef SYS_epoll_pwait2
    static _Thread_local bool is_missing;
    if (!is_missing) {
        struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / HW_NS_PER_S),
                                   .tv_nsec = (long)(timeout_ns % HW_NS_PER_S)};
        int count = (int)syscall(SYS_epoll_pwait2, epoll_fd, ready, capacity, &timeout, NULL, 0);
        if (count >= 0 || errno == EINTR)
            return count;
        is_missing = true; /* or forbidden: some containers answer EPERM to what they do not know */
    }
#endif
    return epoll_wait(epoll_fd, ready, capacity, (int)((timeout_ns + HW_NS_PER_MS - 1) / HW_NS_PER_MS));
}

/* A socket becomes writable (as an edge) only after it was full. */
static enum hw_event classify(const struct epoll_event *ready)
{
    int unread_bytes = 0;
    if (!(ready->events & EPOLLIN))
        return HW_EVENT_BULK;
    if (ioctl(ready->data.fd, FIONREAD, &unread_bytes) != 0 || unread_bytes >= BULK_BYTES)
        return HW_EVENT_BULK;
    return HW_EVENT_MESSAGE;
}

static enum hw_event wait_for_event(struct hw_triggers *triggers, uint64_t timeout_ns)
{
    const struct hw_events *events = &triggers->events;
    struct epoll_event ready[16];
    int count = wait_ns(events->edge_fd, ready, 16, timeout_ns);
    enum hw_event event = HW_EVENT_NONE;
    for (int i = 0; i < count; i++) {
        enum hw_event one = ready[i].data.fd == events->interrupt_fd ? HW_EVENT_NONE : classify(&ready[i]);
        if (one > event)
            event = one;
    }
    return event;
}

static bool is_data_waiting(struct hw_triggers *triggers)
{
    struct epoll_event ready;
    return epoll_wait(triggers->events.level_fd, &ready, 1, 0) > 0;
}

static void ignore_unread(struct hw_triggers *triggers)
{
    struct hw_events *events = &triggers->events;
    struct epoll_event ready[16];
    int count = epoll_wait(events->level_fd, ready, 16, 0);
    for (int i = 0; i < count; i++) {
        int fd = ready[i].data.fd, unread_bytes = 0, known = find(events, fd);
        if (known < 0 || ioctl(fd, FIONREAD, &unread_bytes) != 0) {
            events->has_strangers = true;
            continue;
        }
        if (events->unread_bytes[known] == unread_bytes &&
            epoll_ctl(events->level_fd, EPOLL_CTL_DEL, fd, NULL) != 0)
            events->has_strangers = true; /* another socket has its number */
        events->unread_bytes[known] = unread_bytes;
    }
}

const struct hw_trigger hw_trigger_events = {
    .capacity = HW_EVENTS_MAX_SOCKETS,
    .open = open_sets,
    .close = close_sets,
    .is_there = is_there,
    .refresh = refresh,
    .add = add,
    .wait = wait_for_event,
    .is_data_waiting = is_data_waiting,
    .ignore_unread = ignore_unread,
    .interrupt = interrupt,
};
