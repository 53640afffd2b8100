/* SPDX-License-Identifier: BSD-3-Clause */
/* This file tells reduction operations apart. */
#ifndef HW_REAL_OP_H
#define HW_REAL_OP_H

#include "real/real.h"

#include <stdbool.h>

/* False for an operation of MPI_Op_create, whose function is the program's; and for one that a newer MPI has
 * than this library knows. Threads of the program, inside an entry. */
bool hw_real_op_is_predefined(MPI_Op op);

#endif
