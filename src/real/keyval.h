/* SPDX-License-Identifier: BSD-3-Clause */
/* Keyvals of communicators for which MPI was given functions in place of the program's. The Fortran and C++
 * libraries of MPICH and Intel MPI make such a keyval theirs by a function that no mpi.h declares: MPI then
 * calls the program's function through one of theirs, its proxy, which must be told the program's own. */
#ifndef HW_REAL_KEYVAL_H
#define HW_REAL_KEYVAL_H

#include "base/visibility.h"
#include "real/real.h"

/* What MPI has for the program's extra state. */
struct hw_real_keyval {
    MPI_Comm_copy_attr_function *copy_function; /* the program's, as is what follows */
    MPI_Comm_delete_attr_function *delete_function;
    void *extra;
    void *copy_proxy, *delete_proxy; /* of another language; NULL: C */
};

/* src/mpi/world_callbacks.c has them. Any thread. */
struct hw_real_keyval_hooks {
    MPI_Comm_copy_attr_function *copy; /* what MPI was given, as is the next */
    MPI_Comm_delete_attr_function *erase;
    MPI_Comm (*as_known)(MPI_Comm comm);        /* as the program knows it */
    struct hw_real_keyval *(*find)(int keyval); /* NULL: MPI was given nothing in its place */
};
extern HW_HIDDEN const struct hw_real_keyval_hooks hw_real_keyval_hooks;

#endif
