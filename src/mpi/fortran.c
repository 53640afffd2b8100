/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes in Fortran (MPI-4.1 section 7.7), which its bindings set and get past MPI_X: told as C is told,
 * see hw_comm_get_attr and hw_win_get_attr. The functions through which they do are those of each MPI
 * (src/real/fortran_attributes.c); what they are told is here. Everything else of Fortran's comes through the
 * entries (doc/adr/0001). Values are Fortran's: no pointers, and of MPI_ATTR_PUT and MPI_ATTR_GET one word
 * long. */
#include "real/fortran.h"
#include "engines/engine.h"
#include "mpi/freeing.h"
#include "mpi/world.h"
#include "progress/inside.h"
#include "world/comm.h"

/* Callbacks of attributes run in these functions, so they mark the thread as entries do. Returns what to
 * leave with: HW_INSIDE_YES for a call of MPI's to itself, or of a callback's. */
static int enter(bool *is_outermost)
{
    struct hw_inside *inside = &hw_inside;
    if (hw_inside_depth(inside) < HW_INSIDE_NO)
        hw_inside_register(inside);
    int outside = hw_inside_depth(inside);
    *is_outermost = outside < HW_INSIDE_YES;
    if (!*is_outermost)
        return HW_INSIDE_YES;
    hw_inside_enter(inside);
    return outside;
}

static void leave(int outside)
{
    if (outside == HW_INSIDE_NO)
        hw_inside_leave(&hw_inside);
    else if (outside == HW_INSIDE_PROFILED)
        hw_inside_leave_profiled(&hw_inside);
}

static void correct_universe(int keyval, void *value, bool is_wide)
{
    if (hw_real_fortran_keyval(keyval) != MPI_UNIVERSE_SIZE)
        return;
    if (is_wide)
        *(MPI_Aint *)value = hw_attr_universe((int)*(MPI_Aint *)value);
    else
        *(MPI_Fint *)value = hw_attr_universe((int)*(MPI_Fint *)value);
}

/* As C is told (hw_win_get_attr); Fortran has the number itself where C has a pointer to it. */
static void correct_window(MPI_Win win, int keyval, MPI_Aint *value)
{
    void *told;
    int flag, own = hw_real_fortran_keyval(keyval);
    if (hw_ask_win_get_attr(win, own, &told, &flag) != MPI_SUCCESS)
        return;
    if (own == MPI_WIN_CREATE_FLAVOR)
        *value = *(const int *)told;
    else if (own == MPI_WIN_BASE)
        *value = (MPI_Aint)told;
}

const struct hw_real_fortran_hooks hw_real_fortran_hooks = {
    .enter = enter,
    .leave = leave,
    .translate = hw_world_comm,
    .place = hw_attr_place,
    .comm_is_set = hw_freeing_mark_comm,
    .type_is_set = hw_freeing_mark_type,
    .correct_of_comm = correct_universe,
    .correct_of_win = correct_window,
};
