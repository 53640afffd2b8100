/* SPDX-License-Identifier: BSD-3-Clause */
/* A datatype that a request of ours needs is kept beyond the program's MPI_Type_free. */
#ifndef HW_OBJECTS_DATATYPE_HOLD_H
#define HW_OBJECTS_DATATYPE_HOLD_H

#include "real/real.h"

/* The same data, committed; the caller frees it. MPI_DATATYPE_NULL: the MPI refuses. One more level, and not
 * MPI_Type_dup, which copies attributes by functions of the program. Any thread, inside a hook. */
MPI_Datatype hw_datatype_hold(MPI_Datatype datatype);

#endif
