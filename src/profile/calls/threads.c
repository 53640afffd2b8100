/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/calls/threads.h"

#include "base/atomic.h"
#include "profile/calls/one_sided.h"
#include "profile/record/lock.h"

#include <stdlib.h>

_Thread_local struct hw_profile_thread *hw_profile_mine;

static struct hw_profile_thread *all, *free_ones;

bool hw_threads_begin(void)
{
    if (hw_profile_mine)
        return true;
    hw_profile_lock();
    struct hw_profile_thread *mine = free_ones;
    if (mine) {
        free_ones = mine->next_free;
    } else if ((mine = calloc(1, sizeof *mine))) {
        mine->next = all;
        all = mine;
    }
    hw_profile_unlock();
    if (mine) {
        mine->note_limit = 1;
        mine->paused_ns = 0;
        mine->slices = (struct hw_slices_share){0};
        mine->delays = (struct hw_delays){0};
        hw_one_sided_forget_thread(mine);
    }
    hw_profile_mine = mine;
    return mine != NULL;
}

void hw_threads_end(void)
{
    hw_profile_mine->next_free = free_ones;
    free_ones = hw_profile_mine;
    hw_profile_mine = NULL;
}

struct hw_profile_thread *hw_threads_first(void) { return all; }

uint64_t hw_threads_mpi_ns(void)
{
    uint64_t sum = 0;
    bool is_locked = hw_profile_lock_to_read();
    for (const struct hw_profile_thread *thread = all; thread; thread = thread->next)
        sum += hw_atomic_load_relaxed(&thread->mpi_ns);
    hw_profile_unlock_read(is_locked);
    return sum;
}
