/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/channel.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "ghost/bell.h"
#include "real/constants.h"
#include "world/world.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define PROGRESS_NS (20 * HW_NS_PER_US)

/* Commands to each ghost, by its place in hw_world.ghost_ranks: of this process, and at the end of all. */
static _Atomic uint64_t *told;
static uint64_t *told_by_all;

enum hw_status hw_ghost_channel_open(void)
{
    told = calloc((size_t)hw_world.ghost_count, sizeof *told);
    told_by_all = calloc((size_t)hw_world.ghost_count, sizeof *told_by_all);
    if (told && told_by_all)
        return HW_OK;
    hw_ghost_channel_close();
    return HW_NOMEM;
}

void hw_ghost_channel_close(void)
{
    free(told);
    free(told_by_all);
    told = NULL;
    told_by_all = NULL;
}

int hw_ghost_tell(int ghost, const struct hw_ghost_command *command)
{
    const struct hw_world_process *process = &hw_world.processes[ghost];
    int rc = hw_bottom.Send(command, sizeof *command, HW_BYTE, ghost, HW_GHOST_TAG_COMMAND, hw_world.all);
    if (rc == MPI_SUCCESS) /* the ghost waits for so many */
        hw_atomic_add_relaxed(&told[hw_world.nodes[process->node].first_ghost + process->local_index], 1);
    if (process->node == hw_world_own_node())
        hw_ghost_bell_ring(hw_ghost_bell_of(process->local_index));
    return rc;
}

int hw_ghost_ask(int ghost, struct hw_ghost_command *command)
{
    static atomic_uint asked; /* threads that wait at the same time must not take each other's grants */
    command->grant_tag =
        HW_GHOST_TAG_GRANT_FIRST + (int32_t)(hw_atomic_add_relaxed(&asked, 1) % HW_GHOST_TAG_GRANT_COUNT);
    int rc = hw_ghost_tell(ghost, command);
    if (rc != MPI_SUCCESS)
        return rc;
    return hw_bottom.Recv(NULL, 0, HW_BYTE, ghost, command->grant_tag, hw_world.all, HW_STATUS_IGNORE);
}

static pthread_mutex_t later_lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_taken[HW_GHOST_TAG_LATER_COUNT]; /* under later_lock */

/* -1: none is free. */
static int take_tag(void)
{
    static int next; /* under later_lock */
    int tag = -1;
    pthread_mutex_lock(&later_lock);
    for (int i = 0; i < HW_GHOST_TAG_LATER_COUNT && tag < 0; i++) {
        next = (next + 1) % HW_GHOST_TAG_LATER_COUNT;
        if (!is_taken[next])
            tag = HW_GHOST_TAG_LATER_FIRST + next;
    }
    if (tag >= 0)
        is_taken[next] = true;
    pthread_mutex_unlock(&later_lock);
    return tag;
}

/* The grant of a tag that nobody was asked for: the next one of that tag must not go there. */
static void take_back(MPI_Request *request)
{
    if (*request == HW_REQUEST_NULL)
        return;
    hw_bottom.Cancel(request);
    hw_bottom.Wait(request, HW_STATUS_IGNORE);
}

enum hw_status hw_ghost_ask_later(int ghost, struct hw_ghost_command *command, struct hw_ghost_later *later,
                                  int *rc)
{
    MPI_Request request;
    later->request = HW_REQUEST_NULL;
    later->tag = take_tag();
    if (later->tag < 0)
        return HW_DECLINED;
    command->grant_tag = later->tag;
    *rc = hw_bottom.Irecv(NULL, 0, HW_BYTE, ghost, later->tag, hw_world.all, &request);
    if (*rc == MPI_SUCCESS) { /* else nobody says what became of the request */
        later->request = request;
        *rc = hw_ghost_tell(ghost, command);
    }
    if (*rc != MPI_SUCCESS) {
        take_back(&later->request);
        hw_ghost_later_end(later);
    }
    return HW_OK;
}

void hw_ghost_later_end(struct hw_ghost_later *later)
{
    pthread_mutex_lock(&later_lock);
    is_taken[later->tag - HW_GHOST_TAG_LATER_FIRST] = false;
    pthread_mutex_unlock(&later_lock);
}

const uint64_t *hw_ghost_channel_sum(void)
{
    hw_bottom.Allreduce(told, told_by_all, hw_world.ghost_count, HW_UINT64_T, HW_SUM, hw_world.users);
    return told_by_all;
}

/* Not hw_poll: that is for one thread at a time, and the progress thread's. */
void hw_ghost_channel_progress(void)
{
    int flag;
    hw_bottom.Iprobe(HW_ANY_SOURCE, HW_GHOST_TAG_NEVER, hw_world.all, &flag, HW_STATUS_IGNORE);
}

void hw_ghost_channel_progress_sometimes(void)
{
    static _Atomic uint64_t last_ns; /* relaxed; threads that look at once do no harm */
    uint64_t now_ns = hw_clock_now_ns();
    if (now_ns - hw_atomic_load_relaxed(&last_ns) < PROGRESS_NS)
        return;
    hw_atomic_store_relaxed(&last_ns, now_ns);
    hw_ghost_channel_progress();
}
