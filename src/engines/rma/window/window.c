/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/window/window.h"

#include "base/atomic.h"
#include "progress/inside.h"
#include "world/world.h"

_Thread_local bool hw_rma_is_muted;

int hw_rma_raise(const struct hw_rma_window *window, int code)
{
    if (hw_rma_is_muted)
        return code;
    hw_inside_pay();
    hw_real.Win_call_errhandler(window->handle, code);
    return code;
}

int hw_rma_synchronise(const struct hw_rma_window *window)
{
    int rc = hw_rma_pass(window, window->win, hw_real.Win_sync(window->win));
    return rc == MPI_SUCCESS && window->dynamic ? hw_real.Win_sync(window->handle) : rc;
}

int hw_rma_window_group(const struct hw_rma_window *window, MPI_Group *group)
{
    /* A handle of the program's own: one rank range, the whole. */
    int whole[1][3] = {{0, window->size - 1, 1}};
    return hw_bottom.Group_range_incl(window->group, 1, whole, group);
}

bool hw_rma_window_has_epoch(struct hw_rma_window *window)
{
    pthread_mutex_lock(&window->mutex);
    bool has_epoch = hw_atomic_load_relaxed(&window->is_lock_all) ||
                     hw_atomic_load_relaxed(&window->lock_count) > 0 || window->start_count >= 0 ||
                     window->post_count >= 0;
    pthread_mutex_unlock(&window->mutex);
    return has_epoch;
}

/* Others have none in the common window. */
static void find_memory_of_common(const struct hw_rma_window *window, MPI_Win *win, int *rank)
{
    if (*rank == window->rank) {
        *rank = 0; /* of the handle, which has this process alone */
        return;
    }
    *rank = window->ghost_count + hw_world.processes[window->targets[*rank].process].user_rank;
    *win = window->win;
}

char *hw_rma_window_memory(const struct hw_rma_window *window, MPI_Win *win, int *rank, MPI_Aint *size,
                           MPI_Aint *disp_unit)
{
    if (*rank == HW_PROC_NULL)
        for (*rank = 0; *rank < window->size - 1 && window->targets[*rank].size == 0;)
            ++*rank;
    if (*rank < 0 || *rank >= window->size) {
        *rank = HW_RMA_BAD_RANK;
        return NULL;
    }
    const struct hw_rma_target *target = &window->targets[*rank];
    *size = target->size;
    *disp_unit = target->disp_unit;
    if (window->flavor == MPI_WIN_FLAVOR_SHARED)
        *win = window->shared; /* in which ghosts come last */
    else if (window->is_common && !window->dynamic)
        find_memory_of_common(window, win, rank);
    else
        *rank += window->first_member;
    return window->flavor == MPI_WIN_FLAVOR_ALLOCATE && *size > 0 ? target->memory : NULL;
}
