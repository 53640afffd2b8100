/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes in Fortran (MPI-4.1 section 7.7), which its bindings set and get past MPI_X: told as C is told,
 * see hw_comm_get_attr and hw_win_get_attr. Everything else of Fortran's comes through the entries
 * (doc/adr/0001). Values are Fortran's: no pointers, and of MPI_ATTR_PUT and MPI_ATTR_GET one word long. */
#include "real/fortran.h"
#include "engines/engine.h"
#include "mpi/freeing.h"
#include "mpi/world.h"
#include "progress/inside.h"
#include "real/table.h"
#include "world/comm.h"

#define HW_EXPORT __attribute__((visibility("default")))

/* Callbacks of attributes run in these functions, so they mark the thread as entries do. Returns what to
 * leave with: HW_INSIDE_YES for a call of MPI's to itself, or of a callback's. */
static int enter(void)
{
    struct hw_inside *inside = &hw_inside;
    if (hw_inside_depth(inside) == HW_INSIDE_UNREGISTERED || hw_inside_depth(inside) == HW_INSIDE_OWES)
        hw_inside_register(inside);
    int outside = hw_inside_depth(inside);
    if (outside >= HW_INSIDE_YES)
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

#ifdef OPEN_MPI

/* The functions of its library for mpif.h, which its modules call as well. A tool may stand before them. */
struct binding {
    struct hw_real_fortran next, bottom;
};

typedef void set_function(const MPI_Fint *comm, const MPI_Fint *keyval, const void *value, MPI_Fint *ierr);
typedef void get_function(const MPI_Fint *handle, const MPI_Fint *keyval, void *value, MPI_Fint *flag,
                          MPI_Fint *ierr);

static void *find(struct binding *binding, int outside)
{
    return hw_real_fortran_find(outside == HW_INSIDE_YES ? &binding->bottom : &binding->next);
}

static MPI_Fint place(MPI_Fint comm, int keyval)
{
    MPI_Comm asked = hw_bottom.Comm_f2c(comm);
    MPI_Comm found = hw_attr_place(asked, keyval);
    return found == asked ? comm : hw_bottom.Comm_c2f(found);
}

static void set(struct binding *binding, const MPI_Fint *comm, const MPI_Fint *keyval, const void *value,
                MPI_Fint *ierr)
{
    int outside = enter();
    set_function *function = find(binding, outside);
    MPI_Fint own = place(*comm, *keyval), rc;
    if (function)
        function(own == *comm ? comm : &own, keyval, value, ierr ? ierr : &rc);
    else if (ierr)
        *ierr = hw_real_missing(binding->next.name);
    leave(outside);
}

/* True if it is there, and the call an outermost one. The program's own variables are passed on: an MPI may
 * have been built for larger integers. */
static bool get(struct binding *binding, const MPI_Fint *handle, const MPI_Fint *keyval, void *value,
                MPI_Fint *flag, MPI_Fint *ierr, int outside)
{
    get_function *function = find(binding, outside);
    MPI_Fint own_rc = MPI_SUCCESS, *rc = ierr ? ierr : &own_rc;
    if (function)
        function(handle, keyval, value, flag, rc);
    else
        *rc = hw_real_missing(binding->next.name);
    return *rc == MPI_SUCCESS && *flag && outside != HW_INSIDE_YES;
}

static void get_of_comm(struct binding *binding, const MPI_Fint *comm, const MPI_Fint *keyval, void *value,
                        MPI_Fint *flag, MPI_Fint *ierr, bool is_wide)
{
    int outside = enter();
    MPI_Fint own = place(*comm, *keyval);
    if (get(binding, own == *comm ? comm : &own, keyval, value, flag, ierr, outside))
        correct_universe(*keyval, value, is_wide);
    leave(outside);
}

#define BINDING(name)                                                                                        \
    {                                                                                                        \
        {"mpi_" name "_", NULL}, { "pmpi_" name "_", NULL }                                                  \
    }
#define SPELLED(function, name)                                                                              \
    __typeof__(function) name __attribute__((visibility("default"), alias(#function)))
/* As compilers spell them; the function's own name is what the module mpi_f08 calls. */
#define SPELLINGS(function, lower, upper)                                                                    \
    SPELLED(function, mpi_##lower);                                                                          \
    SPELLED(function, mpi_##lower##_);                                                                       \
    SPELLED(function, mpi_##lower##__);                                                                      \
    SPELLED(function, MPI_##upper);                                                                          \
    SPELLED(function, pmpi_##lower);                                                                         \
    SPELLED(function, pmpi_##lower##_);                                                                      \
    SPELLED(function, pmpi_##lower##__);                                                                     \
    SPELLED(function, PMPI_##upper)

HW_EXPORT void ompi_comm_set_attr_f(const MPI_Fint *comm, const MPI_Fint *keyval, const void *value,
                                    MPI_Fint *ierr)
{
    static struct binding binding = BINDING("comm_set_attr");
    set(&binding, comm, keyval, value, ierr);
}
SPELLINGS(ompi_comm_set_attr_f, comm_set_attr, COMM_SET_ATTR);

HW_EXPORT void ompi_comm_get_attr_f(const MPI_Fint *comm, const MPI_Fint *keyval, void *value, MPI_Fint *flag,
                                    MPI_Fint *ierr)
{
    static struct binding binding = BINDING("comm_get_attr");
    get_of_comm(&binding, comm, keyval, value, flag, ierr, true);
}
SPELLINGS(ompi_comm_get_attr_f, comm_get_attr, COMM_GET_ATTR);

HW_EXPORT void ompi_attr_put_f(const MPI_Fint *comm, const MPI_Fint *keyval, const void *value,
                               MPI_Fint *ierr)
{
    static struct binding binding = BINDING("attr_put");
    set(&binding, comm, keyval, value, ierr);
}
SPELLINGS(ompi_attr_put_f, attr_put, ATTR_PUT);

HW_EXPORT void ompi_attr_get_f(const MPI_Fint *comm, const MPI_Fint *keyval, void *value, MPI_Fint *flag,
                               MPI_Fint *ierr)
{
    static struct binding binding = BINDING("attr_get");
    get_of_comm(&binding, comm, keyval, value, flag, ierr, false);
}
SPELLINGS(ompi_attr_get_f, attr_get, ATTR_GET);

HW_EXPORT void ompi_win_get_attr_f(const MPI_Fint *win, const MPI_Fint *keyval, MPI_Aint *value,
                                   MPI_Fint *flag, MPI_Fint *ierr)
{
    static struct binding binding = BINDING("win_get_attr");
    int outside = enter();
    if (get(&binding, win, keyval, value, flag, ierr, outside))
        correct_window(hw_bottom.Win_f2c(*win), *keyval, value);
    leave(outside);
}
SPELLINGS(ompi_win_get_attr_f, win_get_attr, WIN_GET_ATTR);

#else

/* C's functions call these too, within an entry, with what the entry made of the arguments. Their numbers for
 * the type of a value: */
enum { VALUE_AINT = 1 };

/* A handle is a number here. */
typedef int set_function(int handle, int keyval, void *value, int type);
typedef int get_function(int handle, int keyval, void *value, int *flag, int type);

HW_EXPORT int MPII_Comm_set_attr(MPI_Comm comm, int keyval, void *value, int type)
{
    static struct hw_real_fortran real = {"MPII_Comm_set_attr", NULL};
    int outside = enter();
    set_function *function = hw_real_fortran_find(&real);
    MPI_Comm own = hw_world_comm(comm);
    int rc = function ? function(own, keyval, value, type) : hw_real_missing(real.name);
    if (rc == MPI_SUCCESS && outside != HW_INSIDE_YES)
        hw_freeing_mark_comm(own);
    leave(outside);
    return rc;
}

HW_EXPORT int MPII_Type_set_attr(MPI_Datatype datatype, int keyval, void *value, int type)
{
    static struct hw_real_fortran real = {"MPII_Type_set_attr", NULL};
    int outside = enter();
    set_function *function = hw_real_fortran_find(&real);
    int rc = function ? function(datatype, keyval, value, type) : hw_real_missing(real.name);
    if (rc == MPI_SUCCESS && outside != HW_INSIDE_YES)
        hw_freeing_mark_type(datatype);
    leave(outside);
    return rc;
}

static int get(struct hw_real_fortran *real, int handle, int keyval, void *value, int *flag, int type)
{
    get_function *function = hw_real_fortran_find(real);
    return function ? function(handle, keyval, value, flag, type) : hw_real_missing(real->name);
}

static int get_of_comm(struct hw_real_fortran *real, MPI_Comm comm, int keyval, void *value, int *flag,
                       int type)
{
    int outside = enter();
    MPI_Comm asked = outside == HW_INSIDE_YES ? comm : hw_attr_place(comm, hw_real_fortran_keyval(keyval));
    int rc = get(real, asked, keyval, value, flag, type);
    if (rc == MPI_SUCCESS && *flag && outside != HW_INSIDE_YES)
        correct_universe(keyval, value, type == VALUE_AINT);
    leave(outside);
    return rc;
}

HW_EXPORT int MPII_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag, int type)
{
    static struct hw_real_fortran real = {"MPII_Comm_get_attr", NULL};
    return get_of_comm(&real, comm, keyval, value, flag, type);
}

/* Intel MPI's mpif.h and module mpi. It holds a lock of the MPI when it calls the one above, which a thread
 * that waits for its turn must not (doc/adr/0015). */
HW_EXPORT int MPII_Comm_get_attr_fort(MPI_Comm comm, int keyval, void *value, int *flag, int type)
{
    static struct hw_real_fortran real = {"MPII_Comm_get_attr_fort", NULL};
    return get_of_comm(&real, comm, keyval, value, flag, type);
}

HW_EXPORT int MPII_Win_get_attr(MPI_Win win, int keyval, void *value, int *flag, int type)
{
    static struct hw_real_fortran real = {"MPII_Win_get_attr", NULL};
    int outside = enter();
    int rc = get(&real, win, keyval, value, flag, type);
    if (rc == MPI_SUCCESS && *flag && outside != HW_INSIDE_YES && type == VALUE_AINT)
        correct_window(win, keyval, value);
    leave(outside);
    return rc;
}

#endif
