/* Windows (MPI-4.1 section 12.2): made, freed and asked about. One that ghosts serve shows the program what
 * it asked for; any other is an exposure, whose target side may need progress at any time. */
#include "mpi/window.h"
#include "engines/engine.h"
#include "engines/rma/rma.h"
#include "hooks.h"
#include "profile/counters.h"

#include <string.h>

/* Of a window that is the MPI's own: passes on what making it gave. */
static int expose(int rc)
{
    if (rc != MPI_SUCCESS)
        return rc;
    HW_COUNT(exposures);
    if (hw_rma_is_on())
        hw_rma_count_declined(1);
    if (hw_engine_is_on())
        hw_engine_active->exposed(1);
    return rc;
}

static int allocate(int flavor, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                    void *baseptr, MPI_Win *win)
{
    int rc = MPI_SUCCESS;
    if (hw_rma_is_on() &&
        hw_rma_window_allocate(flavor, size, disp_unit, info, comm, baseptr, win, &rc) != HW_DECLINED)
        return rc;
    return expose(flavor == MPI_WIN_FLAVOR_SHARED
                      ? hw_real_win_allocate_shared(size, disp_unit, info, comm, baseptr, win)
                      : hw_real_win_allocate(size, disp_unit, info, comm, baseptr, win));
}

int hw_win_allocate(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                    MPI_Win *win)
{
    return allocate(MPI_WIN_FLAVOR_ALLOCATE, size, disp_unit, info, comm, baseptr, win);
}

int hw_win_allocate_shared(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                           MPI_Win *win)
{
    return allocate(MPI_WIN_FLAVOR_SHARED, size, disp_unit, info, comm, baseptr, win);
}

int hw_win_create(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    int rc = MPI_SUCCESS;
    if (hw_rma_is_on() && hw_rma_window_create(base, size, disp_unit, info, comm, win, &rc) != HW_DECLINED)
        return rc;
    return expose(hw_real_win_create(base, size, disp_unit, info, comm, win));
}

/* Served or not: what it has attached besides needs the target's progress. */
int hw_win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    int rc = MPI_SUCCESS;
    if (hw_rma_is_on() && hw_rma_window_create_dynamic(info, comm, win, &rc) != HW_DECLINED) {
        if (rc == MPI_SUCCESS && hw_engine_is_on())
            hw_engine_active->exposed(1);
        return rc;
    }
    return expose(hw_real.Win_create_dynamic(info, comm, win));
}

/* While ghosts are in the collective call that frees a shadow window they cannot take part in another, and
 * the program's attribute callbacks run inside of ours: a window that one of them frees waits until we are
 * out. */
static _Thread_local struct {
    struct hw_rma_window *freeing; /* known to callbacks alone */
    struct hw_rma_window *first;   /* that wait, last first; all members' callbacks free in one order */
} nested;

static int end_redirected(struct hw_rma_window *window, MPI_Win *win)
{
    bool is_exposed = window->dynamic != NULL;
    nested.freeing = window;
    int rc = hw_rma_window_free(window, win);
    if (rc == MPI_SUCCESS && is_exposed && hw_engine_is_on())
        hw_engine_active->exposed(-1);
    return rc;
}

static int free_redirected(struct hw_rma_window *window, MPI_Win *win)
{
    if (nested.freeing) {
        window->next_to_free = nested.first;
        nested.first = window;
        *win = HW_WIN_NULL;
        return MPI_SUCCESS;
    }
    int rc = end_redirected(window, win);
    while (nested.first) {
        struct hw_rma_window *other = nested.first;
        MPI_Win handle = other->handle;
        nested.first = other->next_to_free;
        end_redirected(other, &handle);
    }
    nested.freeing = NULL;
    return rc;
}

int hw_win_free(MPI_Win *win)
{
    struct hw_rma_window *window = hw_rma_find(*win);
    if (window)
        return free_redirected(window, win);
    int rc = hw_real.Win_free(win);
    if (rc == MPI_SUCCESS && hw_rma_is_on())
        hw_rma_count_declined(-1);
    if (rc == MPI_SUCCESS && hw_engine_is_on())
        hw_engine_active->exposed(-1);
    return rc;
}

bool hw_win_free_nested(MPI_Win *win)
{
    struct hw_rma_window *window = win ? hw_rma_find(*win) : NULL;
    return window && free_redirected(window, win) == MPI_SUCCESS;
}

void hw_win_memory(MPI_Win *win, int *rank)
{
    const struct hw_rma_window *window = hw_rma_find(*win);
    if (window == NULL && nested.freeing && nested.freeing->handle == *win)
        window = nested.freeing;
    if (window)
        hw_rma_window_memory(window, win, rank);
}

/* What the shadow window would show otherwise: it is always one of MPI_Win_create, and MPICH 4.0 over UCX
 * shows the beginning of a page for the base of one (and puts there, plain). */
int hw_win_get_attr(MPI_Win win, int keyval, void *value, int *flag)
{
    struct hw_rma_window *window = hw_rma_find(win);
    int rc = hw_real.Win_get_attr(win, keyval, value, flag);
    if (rc != MPI_SUCCESS || window == NULL || !*flag)
        return rc;
    int *flavor = &window->flavor;
    if (keyval == MPI_WIN_CREATE_FLAVOR)
        memcpy(value, &flavor, sizeof flavor);
    else if (keyval == MPI_WIN_BASE)
        memcpy(value, &window->base, sizeof window->base);
    return rc;
}

int hw_win_get_group(MPI_Win win, MPI_Group *group)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return hw_real.Win_get_group(win, group);
    return hw_rma_window_group(window, group);
}

/* MPI_Win_set_info is collective over the window, and the ghosts know nothing of it. Hints may be ignored
 * (MPI-4.1 section 12.2.7); what the program gave is what it reads back. */
int hw_win_set_info(MPI_Win win, MPI_Info info)
{
    struct hw_rma_window *window = hw_rma_find(win);
    return window ? hw_rma_window_set_info(window, info) : hw_real.Win_set_info(win, info);
}

int hw_win_get_info(MPI_Win win, MPI_Info *info)
{
    struct hw_rma_window *window = hw_rma_find(win);
    return window ? hw_rma_window_get_info(window, info) : hw_real.Win_get_info(win, info);
}
