/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows as engines are asked for them (MPI-4.1 section 12.2): one that ghosts serve shows the program what
 * it asked for. */
#include "engines/rma/window/calls.h"

#include "engines/rma/window/agree.h"
#include "engines/rma/window/info.h"
#include "engines/rma/window/make.h"
#include "engines/rma/window/table.h"
#include "engines/rma/window/wish.h"

#include <string.h>

/* Where there is no place for what is made, the MPI refuses. HW_DECLINED: the MPI is to make the window. */
static int answer(enum hw_status status, int rc) { return status == HW_DECLINED ? HW_DECLINES : rc; }

static int allocate(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                    MPI_Win *win)
{
    int rc = MPI_SUCCESS;
    if (baseptr == NULL || win == NULL)
        return HW_DECLINES;
    enum hw_status status =
        hw_rma_window_allocate(MPI_WIN_FLAVOR_ALLOCATE, size, disp_unit, info, comm, baseptr, win, &rc);
    return answer(status, rc);
}

static int allocate_shared(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                           MPI_Win *win)
{
    int rc = MPI_SUCCESS;
    if (baseptr == NULL || win == NULL)
        return HW_DECLINES;
    enum hw_status status =
        hw_rma_window_allocate(MPI_WIN_FLAVOR_SHARED, size, disp_unit, info, comm, baseptr, win, &rc);
    return answer(status, rc);
}

static int create(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    int rc = MPI_SUCCESS;
    if (win == NULL)
        return HW_DECLINES;
    enum hw_status status = hw_rma_window_create(base, size, disp_unit, info, comm, win, &rc);
    return answer(status, rc);
}

/* Served, and an exposure all the same: what it has attached besides needs the target's progress. */
static int create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    int rc = MPI_SUCCESS;
    if (win == NULL || hw_rma_window_create_dynamic(info, comm, win, &rc) == HW_DECLINED)
        return HW_DECLINES;
    if (rc == MPI_SUCCESS)
        hw_engines_exposed(1);
    return rc;
}

/* While ghosts are in the collective call that frees a shadow window they cannot take part in another, and
 * the program's attribute callbacks run inside of ours: a window that one of them frees waits until we are
 * out; in MPI_Finalize all are freed anyway. Last first; all members' callbacks free in one order. */
static _Thread_local struct hw_rma_window *first_to_free;

static int end(struct hw_rma_window *window, MPI_Win *win)
{
    bool is_exposed = window->dynamic != NULL;
    hw_rma_freeing = window;
    int rc = hw_rma_window_free(window, win, false);
    if (rc == MPI_SUCCESS && is_exposed)
        hw_engines_exposed(-1);
    return rc;
}

static int free_window(MPI_Win *win)
{
    struct hw_rma_window *window = win ? hw_rma_find(*win) : NULL;
    if (window == NULL)
        return HW_DECLINES;
    if (hw_rma_freeing) {
        window->next_to_free = first_to_free;
        first_to_free = window;
        *win = HW_WIN_NULL;
        return MPI_SUCCESS;
    }
    int rc = end(window, win);
    while (first_to_free) {
        struct hw_rma_window *other = first_to_free;
        MPI_Win handle = other->handle;
        first_to_free = other->next_to_free;
        end(other, &handle);
    }
    hw_rma_freeing = NULL;
    return rc;
}

/* Callbacks of the program's that run while a window is freed may ask about it, which nobody else knows any
 * more. */
static struct hw_rma_window *find(MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL && hw_rma_freeing && hw_rma_freeing->handle == win)
        return hw_rma_freeing;
    return window;
}

bool hw_rma_window_place(MPI_Win *win, int *rank, struct hw_engine_place *place)
{
    struct hw_rma_window *window = find(*win);
    if (window == NULL)
        return false;
    window->is_shown = true;
    place->memory = hw_rma_window_memory(window, win, rank, &place->size, &place->disp_unit);
    place->is_nowhere = window->is_apart && place->size == 0;
    return true;
}

/* What the shadow window would show otherwise: it is always one of MPI_Win_create, and MPICH 4.0 over UCX
 * shows the beginning of a page for the base of one (and puts there, plain). Of everything else it shows the
 * truth. */
static int get_attr(MPI_Win win, int keyval, void *value, int *flag)
{
    struct hw_rma_window *window = value && flag ? find(win) : NULL;
    if (window == NULL || (keyval != MPI_WIN_CREATE_FLAVOR && keyval != MPI_WIN_BASE))
        return HW_DECLINES;
    int *flavor = &window->flavor;
    if (keyval == MPI_WIN_CREATE_FLAVOR)
        memcpy(value, &flavor, sizeof flavor);
    else
        memcpy(value, &window->base, sizeof window->base);
    *flag = 1;
    return MPI_SUCCESS;
}

static int get_group(MPI_Win win, MPI_Group *group)
{
    const struct hw_rma_window *window = find(win);
    if (window == NULL)
        return HW_DECLINES;
    return hw_rma_window_group(window, group);
}

/* MPI_Win_set_info is collective over the window, and the ghosts know nothing of it. Hints may be ignored
 * (MPI-4.1 section 12.2.7); what the program gave is what it reads back. Members meet in it where routes may
 * change, whatever their hints are: else those that give symmetric=true would wait for those that do not. */
static int set_info(MPI_Win win, MPI_Info info)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    int rc = hw_rma_window_set_info(window, info);
    if (rc != MPI_SUCCESS || !window->routes.may_change)
        return rc;
    enum hw_rma_wish wish = hw_rma_wish_read(info);
    if (wish != HW_RMA_WISH_NONE)
        window->routes.next_wish = (uint32_t)wish;
    rc = hw_rma_agree(window, hw_rma_wish_is_symmetric(info));
    return rc == MPI_SUCCESS ? rc : hw_rma_raise(window, rc);
}

static int get_info(MPI_Win win, MPI_Info *info)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    return hw_rma_window_get_info(window, info);
}

const struct hw_engine_window hw_rma_window_calls = {
    .win_allocate = allocate,
    .win_allocate_shared = allocate_shared,
    .win_create = create,
    .win_create_dynamic = create_dynamic,
    .win_free = free_window,
    .win_get_attr = get_attr,
    .win_get_group = get_group,
    .win_set_info = set_info,
    .win_get_info = get_info,
};
