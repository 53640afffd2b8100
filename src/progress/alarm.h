/* SPDX-License-Identifier: BSD-3-Clause */
/* An agent sleeps on its alarm, which others set off at once or after a moment.
 *
 * To wake a thread costs its waker 6 to 15 us, and the woken thread takes the waker's core: in the midst of a
 * series of posts that is a bad moment. To set a timer costs half a microsecond. Whoever posts sets it to a
 * moment later; a program that waits at once is inside MPI by then and loses nothing.
 *
 * One agent sleeps, any thread sets. */
#ifndef HW_PROGRESS_ALARM_H
#define HW_PROGRESS_ALARM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct hw_alarm {
    int timer_fd;   /* timerfd_create(2); -1: none */
    int witness_fd; /* a directory, told by the two below: while it is open so is the timer */
    dev_t witness_device;
    ino_t witness_inode;
};

/* False where the kernel gives no timer; the agent then sleeps otherwise. */
bool hw_alarm_open(struct hw_alarm *alarm);
void hw_alarm_close(struct hw_alarm *alarm);

/* False once the program has closed all descriptors, as daemons do, and without a timer. */
bool hw_alarm_is_there(const struct hw_alarm *alarm);

/* Goes off after delay_ns, 0: at once, instead of what was set before. Any thread. */
void hw_alarm_set(const struct hw_alarm *alarm, uint64_t delay_ns);

/* It does not go off, unless it did already. Any thread. */
void hw_alarm_cancel(const struct hw_alarm *alarm);

/* Sleeps until it goes off, at most timeout_ns, and never longer than a second: the program may close the
 * descriptor meanwhile. */
void hw_alarm_sleep(const struct hw_alarm *alarm, uint64_t timeout_ns);

#endif
