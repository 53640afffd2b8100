/* SPDX-License-Identifier: BSD-3-Clause */
/* Freeing follows attributes of the program's on what it may free in use (freeing.c). */
#ifndef HW_MPI_FREEING_H
#define HW_MPI_FREEING_H

#include "base/visibility.h"
#include "real/real.h"

/* After the program has set an attribute on it; within the call. */
HW_HIDDEN void hw_freeing_mark_comm(MPI_Comm comm);
HW_HIDDEN void hw_freeing_mark_type(MPI_Datatype type);

#endif
