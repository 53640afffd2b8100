/* SPDX-License-Identifier: BSD-3-Clause */
/* The Fortran libraries of the MPIs set and get attributes past MPI_X: those of MPICH and Intel MPI through
 * functions of libmpi that no mpi.h declares, that of Open MPI through its own insides. */
#ifndef HW_REAL_FORTRAN_H
#define HW_REAL_FORTRAN_H

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

#endif
