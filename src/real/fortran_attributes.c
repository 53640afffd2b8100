/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions by which the Fortran of each MPI sets and gets attributes, in place of its own. */
#include "real/fortran.h"

#include "real/real.h"
#include "real/table.h"

#include <stdbool.h>

#define HW_EXPORT __attribute__((visibility("default")))

static const struct hw_real_fortran_hooks *const hooks = &hw_real_fortran_hooks;

#if HW_ABI_OPEN_MPI

/* The functions of its library for mpif.h, which its modules call as well. A tool may stand before them. */
struct binding {
    struct hw_real_fortran next, bottom;
};

typedef void set_function(const MPI_Fint *handle, const MPI_Fint *keyval, const void *value, MPI_Fint *ierr);
typedef void get_function(const MPI_Fint *handle, const MPI_Fint *keyval, void *value, MPI_Fint *flag,
                          MPI_Fint *ierr);

static void *find(struct binding *binding, bool is_outermost)
{
    return hw_real_fortran_find(is_outermost ? &binding->next : &binding->bottom);
}

static MPI_Fint place(MPI_Fint comm, int keyval)
{
    MPI_Comm asked = hw_bottom.Comm_f2c(comm);
    MPI_Comm found = hooks->place(asked, keyval);
    return found == asked ? comm : hw_bottom.Comm_c2f(found);
}

/* True if it is set, and the call an outermost one. */
static bool set(struct binding *binding, const MPI_Fint *handle, const MPI_Fint *keyval, const void *value,
                MPI_Fint *ierr, bool is_outermost)
{
    set_function *function = find(binding, is_outermost);
    MPI_Fint own_rc = MPI_SUCCESS, *rc = ierr ? ierr : &own_rc;
    if (function)
        function(handle, keyval, value, rc);
    else
        *rc = hw_real_missing(binding->next.name);
    return *rc == MPI_SUCCESS && is_outermost;
}

static void set_of_comm(struct binding *binding, const MPI_Fint *comm, const MPI_Fint *keyval,
                        const void *value, MPI_Fint *ierr)
{
    bool is_outermost;
    int outside = hooks->enter(&is_outermost);
    MPI_Fint own = place(*comm, *keyval);
    set(binding, own == *comm ? comm : &own, keyval, value, ierr, is_outermost);
    hooks->leave(outside);
}

/* True if it is there, and the call an outermost one. The program's own variables are passed on: an MPI may
 * have been built for larger integers. */
static bool get(struct binding *binding, const MPI_Fint *handle, const MPI_Fint *keyval, void *value,
                MPI_Fint *flag, MPI_Fint *ierr, bool is_outermost)
{
    get_function *function = find(binding, is_outermost);
    MPI_Fint own_rc = MPI_SUCCESS, *rc = ierr ? ierr : &own_rc;
    if (function)
        function(handle, keyval, value, flag, rc);
    else
        *rc = hw_real_missing(binding->next.name);
    return *rc == MPI_SUCCESS && *flag && is_outermost;
}

static void get_of_comm(struct binding *binding, const MPI_Fint *comm, const MPI_Fint *keyval, void *value,
                        MPI_Fint *flag, MPI_Fint *ierr, bool is_wide)
{
    bool is_outermost;
    int outside = hooks->enter(&is_outermost);
    MPI_Fint own = place(*comm, *keyval);
    if (get(binding, own == *comm ? comm : &own, keyval, value, flag, ierr, is_outermost))
        hooks->correct_of_comm(*keyval, value, is_wide);
    hooks->leave(outside);
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
    set_of_comm(&binding, comm, keyval, value, ierr);
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
    set_of_comm(&binding, comm, keyval, value, ierr);
}
SPELLINGS(ompi_attr_put_f, attr_put, ATTR_PUT);

HW_EXPORT void ompi_attr_get_f(const MPI_Fint *comm, const MPI_Fint *keyval, void *value, MPI_Fint *flag,
                               MPI_Fint *ierr)
{
    static struct binding binding = BINDING("attr_get");
    get_of_comm(&binding, comm, keyval, value, flag, ierr, false);
}
SPELLINGS(ompi_attr_get_f, attr_get, ATTR_GET);

HW_EXPORT void ompi_type_set_attr_f(const MPI_Fint *type, const MPI_Fint *keyval, const void *value,
                                    MPI_Fint *ierr)
{
    static struct binding binding = BINDING("type_set_attr");
    bool is_outermost;
    int outside = hooks->enter(&is_outermost);
    if (set(&binding, type, keyval, value, ierr, is_outermost))
        hooks->type_is_set(hw_bottom.Type_f2c(*type));
    hooks->leave(outside);
}
SPELLINGS(ompi_type_set_attr_f, type_set_attr, TYPE_SET_ATTR);

HW_EXPORT void ompi_win_get_attr_f(const MPI_Fint *win, const MPI_Fint *keyval, MPI_Aint *value,
                                   MPI_Fint *flag, MPI_Fint *ierr)
{
    static struct binding binding = BINDING("win_get_attr");
    bool is_outermost;
    int outside = hooks->enter(&is_outermost);
    if (get(&binding, win, keyval, value, flag, ierr, is_outermost))
        hooks->correct_of_win(hw_bottom.Win_f2c(*win), *keyval, value);
    hooks->leave(outside);
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
    bool is_outermost;
    int outside = hooks->enter(&is_outermost);
    set_function *function = hw_real_fortran_find(&real);
    MPI_Comm own = hooks->translate(comm);
    int rc = function ? function(own, keyval, value, type) : hw_real_missing(real.name);
    if (rc == MPI_SUCCESS && is_outermost)
        hooks->comm_is_set(own);
    hooks->leave(outside);
    return rc;
}

HW_EXPORT int MPII_Type_set_attr(MPI_Datatype datatype, int keyval, void *value, int type)
{
    static struct hw_real_fortran real = {"MPII_Type_set_attr", NULL};
    bool is_outermost;
    int outside = hooks->enter(&is_outermost);
    set_function *function = hw_real_fortran_find(&real);
    int rc = function ? function(datatype, keyval, value, type) : hw_real_missing(real.name);
    if (rc == MPI_SUCCESS && is_outermost)
        hooks->type_is_set(datatype);
    hooks->leave(outside);
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
    bool is_outermost;
    int outside = hooks->enter(&is_outermost);
    MPI_Comm asked = is_outermost ? hooks->place(comm, hw_real_fortran_keyval(keyval)) : comm;
    int rc = get(real, asked, keyval, value, flag, type);
    /* Within the call in C, whose error MPICH 5 need not tell, there may be no flag. */
    if (is_outermost && rc == MPI_SUCCESS && *flag)
        hooks->correct_of_comm(keyval, value, type == VALUE_AINT);
    hooks->leave(outside);
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
    bool is_outermost;
    int outside = hooks->enter(&is_outermost);
    int rc = get(&real, win, keyval, value, flag, type);
    if (is_outermost && rc == MPI_SUCCESS && *flag && type == VALUE_AINT)
        hooks->correct_of_win(win, keyval, value);
    hooks->leave(outside);
    return rc;
}

#endif
