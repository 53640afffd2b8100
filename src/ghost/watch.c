/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/watch.h"

#include "base/agent.h"
#include "base/atomic.h"
#include "ghost/leaver.h"
#include "ghost/service.h"
#include "progress/alarm.h"
#include "progress/inside.h"
#include "real/end_job.h"
#include "world/world.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STACK_BYTES = 256 * 1024, EXIT_GHOST_LOST = 70 /* EX_SOFTWARE of sysexits.h */ };

/* In which a launcher ends the job, if it does. Where a process left, the job's status is that of the process
 * as long as nobody else ends it, and a launcher on a busy machine takes its time. */
enum { LAUNCHER_US = 100 * 1000, LEFT_US = 3000 * 1000 };

static struct pollfd *watched; /* the ghosts, then the alarm that stops the thread */
static int watched_count;
static struct hw_alarm stop = {.timer_fd = -1};
static atomic_bool is_stopping;
static pthread_t thread;
static bool is_running;

static void *run(void *argument)
{
    hw_inside_mark_own_thread();
    prctl(PR_SET_NAME, "headway-watch", 0, 0, 0);
    while (poll(watched, (nfds_t)watched_count + 1, -1) < 0)
        continue;
    if (watched[watched_count].revents)
        return argument;
    usleep(hw_ghost_leaver_is_any() ? LEFT_US : LAUNCHER_US);
    if (hw_atomic_load_acquire(&is_stopping))
        return argument;
    if (hw_ghost_services_are_dispensable()) {
        hw_ghost_services_lost();
        return argument;
    }
    hw_real_end_job(EXIT_GHOST_LOST);
}

static bool open_all(void)
{
    int ghost_count = hw_world.own_node->ghost_count;
    int first = hw_world.own_node->process_count - ghost_count;
    watched = calloc((size_t)ghost_count + 1, sizeof *watched);
    if (watched == NULL)
        return false;
    for (; watched_count < ghost_count; watched_count++) {
        int fd = (int)syscall(SYS_pidfd_open, hw_world.node_pids[first + watched_count], 0);
        if (fd < 0)
            return false;
        watched[watched_count] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
    if (!hw_alarm_open(&stop))
        return false;
    watched[watched_count] = (struct pollfd){.fd = stop.timer_fd, .events = POLLIN};
    return true;
}

static void close_all(void)
{
    for (int i = 0; i < watched_count; i++)
        close(watched[i].fd);
    hw_alarm_close(&stop);
    watched_count = 0;
    free(watched);
    watched = NULL;
}

void hw_ghost_watch_start(void)
{
    if (hw_world.processes[hw_world.rank].local_index != 0)
        return;
    if (!open_all()) {
        close_all();
        return;
    }
    hw_atomic_store_relaxed(&is_stopping, false);
    is_running = hw_agent_create(&thread, run, STACK_BYTES, NULL) == 0;
    if (!is_running)
        close_all();
}

void hw_ghost_watch_stop(void)
{
    if (!is_running)
        return;
    is_running = false;
    hw_atomic_store_release(&is_stopping, true);
    if (!hw_alarm_is_there(&stop)) { /* the program has closed what it did not open */
        pthread_detach(thread);
        return;
    }
    hw_alarm_set(&stop, 0);
    pthread_join(thread, NULL);
    close_all();
}
