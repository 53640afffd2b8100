/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows (MPI-4.1 section 12.2): made, freed and asked about. One that no engine takes is an exposure, whose
 * target side may need progress at any time. */
#include "mpi/window.h"
#include "engines/engine.h"
#include "hooks.h"
#include "profile/record/counters.h"

/* Of a window that is the MPI's own: passes on what making it gave. */
static int expose(int rc)
{
    if (rc != MPI_SUCCESS)
        return rc;
    HW_COUNT(exposures);
    hw_engines_left(1);
    hw_engines_exposed(1);
    return rc;
}

int hw_win_allocate(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                    MPI_Win *win)
{
    int rc = hw_ask_win_allocate(size, disp_unit, info, comm, baseptr, win);
    if (rc != HW_DECLINES)
        return rc;
    return expose(hw_real_win_allocate(size, disp_unit, info, comm, baseptr, win));
}

int hw_win_allocate_shared(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                           MPI_Win *win)
{
    int rc = hw_ask_win_allocate_shared(size, disp_unit, info, comm, baseptr, win);
    if (rc != HW_DECLINES)
        return rc;
    return expose(hw_real_win_allocate_shared(size, disp_unit, info, comm, baseptr, win));
}

int hw_win_create(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    int rc = hw_ask_win_create(base, size, disp_unit, info, comm, win);
    if (rc != HW_DECLINES)
        return rc;
    return expose(hw_real_win_create(base, size, disp_unit, info, comm, win));
}

int hw_win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    int rc = hw_ask_win_create_dynamic(info, comm, win);
    return rc != HW_DECLINES ? rc : expose(hw_real.Win_create_dynamic(info, comm, win));
}

int hw_win_free(MPI_Win *win)
{
    int rc = hw_ask_win_free(win);
    if (rc != HW_DECLINES)
        return rc;
    rc = hw_real.Win_free(win);
    if (rc == MPI_SUCCESS) {
        hw_engines_left(-1);
        hw_engines_exposed(-1);
    }
    return rc;
}

struct hw_engine_place hw_win_memory(MPI_Win *win, int *rank)
{
    struct hw_engine_place place = {0};
    hw_engines_window_place(win, rank, &place);
    return place;
}

int hw_win_get_attr(MPI_Win win, int keyval, void *value, int *flag)
{
    int rc = hw_ask_win_get_attr(win, keyval, value, flag);
    return rc != HW_DECLINES ? rc : hw_real.Win_get_attr(win, keyval, value, flag);
}

int hw_win_get_group(MPI_Win win, MPI_Group *group)
{
    int rc = hw_ask_win_get_group(win, group);
    return rc != HW_DECLINES ? rc : hw_real.Win_get_group(win, group);
}

int hw_win_set_info(MPI_Win win, MPI_Info info)
{
    int rc = hw_ask_win_set_info(win, info);
    return rc != HW_DECLINES ? rc : hw_real.Win_set_info(win, info);
}

int hw_win_get_info(MPI_Win win, MPI_Info *info)
{
    int rc = hw_ask_win_get_info(win, info);
    return rc != HW_DECLINES ? rc : hw_real.Win_get_info(win, info);
}
