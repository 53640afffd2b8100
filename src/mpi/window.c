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
    hw_engines_exposed(1);
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
        if (rc == MPI_SUCCESS)
            hw_engines_exposed(1);
        return rc;
    }
    return expose(hw_real.Win_create_dynamic(info, comm, win));
}

/* While ghosts are in the collective call that frees a shadow window they cannot take part in another, and
 * the program's attribute callbacks run inside of ours: a window that one of them frees waits until we are
 * out; in MPI_Finalize all are freed anyway. Last first; all members' callbacks free in one order. */
static _Thread_local struct hw_rma_window *first_to_free;

static int end_redirected(struct hw_rma_window *window, MPI_Win *win)
{
    bool is_exposed = window->dynamic != NULL;
    hw_rma_freeing = window;
    int rc = hw_rma_window_free(window, win);
    if (rc == MPI_SUCCESS && is_exposed)
        hw_engines_exposed(-1);
    return rc;
}

static int free_redirected(struct hw_rma_window *window, MPI_Win *win)
{
    if (hw_rma_freeing) {
        window->next_to_free = first_to_free;
        first_to_free = window;
        *win = HW_WIN_NULL;
        return MPI_SUCCESS;
    }
    int rc = end_redirected(window, win);
    while (first_to_free) {
        struct hw_rma_window *other = first_to_free;
        MPI_Win handle = other->handle;
        first_to_free = other->next_to_free;
        end_redirected(other, &handle);
    }
    hw_rma_freeing = NULL;
    return rc;
}

int hw_win_free(MPI_Win *win)
{
    struct hw_rma_window *window = win ? hw_rma_find(*win) : NULL;
    if (window)
        return free_redirected(window, win);
    int rc = hw_real.Win_free(win);
    if (rc == MPI_SUCCESS && hw_rma_is_on())
        hw_rma_count_declined(-1);
    if (rc == MPI_SUCCESS)
        hw_engines_exposed(-1);
    return rc;
}

bool hw_win_free_nested(MPI_Win *win)
{
    struct hw_rma_window *window = win ? hw_rma_find(*win) : NULL;
    return window && free_redirected(window, win) == MPI_SUCCESS;
}

/* Where MPI calls itself. Callbacks of the program's that run while a window is freed may ask about it, which
 * nobody else knows any more. */
static struct hw_rma_window *find_nested(MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL && hw_rma_freeing && hw_rma_freeing->handle == win)
        return hw_rma_freeing;
    return window;
}

struct hw_win_place hw_win_memory(MPI_Win *win, int *rank)
{
    struct hw_win_place place = {0};
    const struct hw_rma_window *window = find_nested(*win);
    if (window)
        place.memory = hw_rma_window_memory(window, win, rank, &place.size, &place.disp_unit);
    return place;
}

/* What the shadow window would show otherwise: it is always one of MPI_Win_create, and MPICH 4.0 over UCX
 * shows the beginning of a page for the base of one (and puts there, plain). False: it shows the truth. */
static bool get_own_attr(struct hw_rma_window *window, int keyval, void *value)
{
    int *flavor = &window->flavor;
    if (keyval == MPI_WIN_CREATE_FLAVOR)
        memcpy(value, &flavor, sizeof flavor);
    else if (keyval == MPI_WIN_BASE)
        memcpy(value, &window->base, sizeof window->base);
    else
        return false;
    return true;
}

int hw_win_get_attr(MPI_Win win, int keyval, void *value, int *flag)
{
    struct hw_rma_window *window = hw_rma_find(win);
    int rc = hw_real.Win_get_attr(win, keyval, value, flag);
    if (rc == MPI_SUCCESS && window && *flag)
        get_own_attr(window, keyval, value);
    return rc;
}

bool hw_win_get_attr_nested(MPI_Win win, int keyval, void *value, int *flag)
{
    struct hw_rma_window *window = value && flag ? find_nested(win) : NULL;
    if (window == NULL || !get_own_attr(window, keyval, value))
        return false;
    *flag = 1;
    return true;
}

int hw_win_get_group(MPI_Win win, MPI_Group *group)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return hw_real.Win_get_group(win, group);
    return hw_rma_window_group(window, group);
}

bool hw_win_get_group_nested(MPI_Win win, MPI_Group *group)
{
    const struct hw_rma_window *window = group ? find_nested(win) : NULL;
    return window && hw_rma_window_group(window, group) == MPI_SUCCESS;
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
