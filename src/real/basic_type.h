/* SPDX-License-Identifier: BSD-3-Clause */
/* This file tells which predefined operations MPI defines on a predefined datatype (MPI-4.1 section 6.9.2),
 * for those that an accumulate applied by us may use: C and Fortran integers and reals, complex numbers,
 * MPI_BYTE, MPI_C_BOOL, MPI_CHAR. Everything else, and everything on Open MPI, whose accumulates we leave
 * alone (software_rma.h), has none. Any thread. */
#ifndef HW_REAL_BASIC_TYPE_H
#define HW_REAL_BASIC_TYPE_H

#include "real/real.h"

enum hw_real_operations {
    HW_REAL_REPLACE = 1,  /* MPI_REPLACE */
    HW_REAL_READ = 2,     /* MPI_NO_OP */
    HW_REAL_ADD = 4,      /* MPI_SUM, MPI_PROD */
    HW_REAL_ORDER = 8,    /* MPI_MAX, MPI_MIN */
    HW_REAL_LOGICAL = 16, /* MPI_LAND, MPI_LOR, MPI_LXOR */
    HW_REAL_BITWISE = 32, /* MPI_BAND, MPI_BOR, MPI_BXOR */
    HW_REAL_COMPARE = 64, /* MPI_Compare_and_swap */
};

/* Union of enum hw_real_operations; 0: not one of these datatypes. */
unsigned hw_real_type_operations(MPI_Datatype datatype);

/* The one to which a predefined operation belongs; 0: none. */
unsigned hw_real_op_operation(MPI_Op op);

#endif
