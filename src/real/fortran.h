/* SPDX-License-Identifier: BSD-3-Clause */
/* The Fortran libraries of the MPIs set and get attributes past MPI_X: those of MPICH and Intel MPI through
 * functions of libmpi that no mpi.h declares, that of Open MPI through its own insides. */
#ifndef HW_REAL_FORTRAN_H
#define HW_REAL_FORTRAN_H

#include "base/visibility.h"
#include "real/real.h"

#include <stdbool.h>

/* A function that no mpi.h declares: its symbol, and where it is once somebody asked. */
struct hw_real_fortran {
    const char *name;
    void *_Atomic found; /* relaxed: all find the same */
};

/* The next of that name in the chain after us; else the MPI's own, whoever opened it for himself (a plugin
 * that Python opens). NULL if the running MPI has none. Any thread. */
void *hw_real_fortran_find(struct hw_real_fortran *function);

/* The keyval that C has for what MPI attaches itself; other keyvals are the same in both languages. */
int hw_real_fortran_keyval(int keyval);

/* What the functions of fortran_attributes.c ask and tell, each from the thread that called it;
 * src/mpi/fortran.c has the answers. `keyval` is the program's, but for that of `place`. */
struct hw_real_fortran_hooks {
    int (*enter)(bool *is_outermost); /* false: MPI calls itself, or a callback calls it */
    void (*leave)(int outside);       /* with what `enter` returned */
    MPI_Comm (*translate)(MPI_Comm comm);
    MPI_Comm (*place)(MPI_Comm comm, int keyval); /* the communicator that has the attribute */
    void (*comm_is_set)(MPI_Comm comm);
    void (*type_is_set)(MPI_Datatype datatype);
    void (*correct_of_comm)(int keyval, void *value,
                            bool is_wide); /* what the program is told in its place */
    void (*correct_of_win)(MPI_Win win, int keyval, MPI_Aint *value);
};
extern HW_HIDDEN const struct hw_real_fortran_hooks hw_real_fortran_hooks;

#endif
