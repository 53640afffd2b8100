/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress/alarm.h"

#include "base/clock.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static bool open_witness(struct hw_alarm *alarm)
{
    struct stat status;
    alarm->witness_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (alarm->witness_fd < 0)
        return false;
    if (fstat(alarm->witness_fd, &status) == 0) {
        alarm->witness_device = status.st_dev;
        alarm->witness_inode = status.st_ino;
        return true;
    }
    close(alarm->witness_fd);
    return false;
}

bool hw_alarm_open(struct hw_alarm *alarm)
{
    alarm->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (alarm->timer_fd >= 0 && open_witness(alarm))
        return true;
    if (alarm->timer_fd >= 0)
        close(alarm->timer_fd);
    alarm->timer_fd = -1;
    return false;
}

void hw_alarm_close(struct hw_alarm *alarm)
{
    if (!hw_alarm_is_there(alarm))
        return;
    close(alarm->timer_fd);
    close(alarm->witness_fd);
    alarm->timer_fd = -1;
}

bool hw_alarm_is_there(const struct hw_alarm *alarm)
{
    struct stat status;
    return alarm->timer_fd >= 0 && fstat(alarm->witness_fd, &status) == 0 &&
           status.st_dev == alarm->witness_device && status.st_ino == alarm->witness_inode;
}

/* In delay_ns; 0: never. */
static void set_timer(const struct hw_alarm *alarm, uint64_t delay_ns)
{
    if (!hw_alarm_is_there(alarm))
        return;
    const struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(delay_ns / HW_NS_PER_S), .tv_nsec = (long)(delay_ns % HW_NS_PER_S)}};
    timerfd_settime(alarm->timer_fd, 0, &when, NULL);
}

void hw_alarm_set(const struct hw_alarm *alarm, uint64_t delay_ns)
{
    set_timer(alarm, delay_ns ? delay_ns : 1);
}

void hw_alarm_cancel(const struct hw_alarm *alarm) { set_timer(alarm, 0); }

void hw_alarm_sleep(const struct hw_alarm *alarm, uint64_t timeout_ns)
{
    uint64_t expirations, sleep_ns = timeout_ns < HW_NS_PER_S ? timeout_ns : HW_NS_PER_S;
    struct pollfd watched = {.fd = alarm->timer_fd, .events = POLLIN};
    const struct timespec timeout = {.tv_sec = (time_t)(sleep_ns / HW_NS_PER_S),
                                     .tv_nsec = (long)(sleep_ns % HW_NS_PER_S)};
    if (ppoll(&watched, 1, &timeout, NULL) == 1 && (watched.revents & POLLIN) && hw_alarm_is_there(alarm)) {
        ssize_t taken = read(alarm->timer_fd, &expirations, sizeof expirations);
        (void)taken; /* set anew meanwhile: it goes off again */
    }
}
