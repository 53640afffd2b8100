/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/op.h"

#if HW_ABI_OPEN_MPI

/* Their numbers in Fortran, from MPI_OP_NULL to MPI_NO_OP; others get the next free ones (4.1, 5.0). */
enum { LAST_PREDEFINED = 14 };

bool hw_real_op_is_predefined(MPI_Op op) { return hw_bottom.Op_c2f(op) <= LAST_PREDEFINED; }

#else

/* The kind of object is in the two highest bits of a handle; 1: not allocated by anybody. */
bool hw_real_op_is_predefined(MPI_Op op) { return (unsigned)op >> 30 == 1; }

#endif
