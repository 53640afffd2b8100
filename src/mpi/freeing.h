/* SPDX-License-Identifier: BSD-3-Clause */
/* Freeing follows attributes of the program's on what it may free in use (freeing.c). */
#ifndef HW_MPI_FREEING_H
#define HW_MPI_FREEING_H

#include "base/visibility.h"
#include "real/real.h"

#include <stdbool.h>

/* After the program has set an attribute on it; within the call. */
HW_HIDDEN void hw_freeing_mark_comm(MPI_Comm comm);
HW_HIDDEN void hw_freeing_mark_type(MPI_Datatype type);

/* Before MPI ends, which may begin again: sessions come and go. What has a mark keeps it. */
HW_HIDDEN void hw_freeing_end(void);

/* Whether this thread is freeing the communicator: callbacks of the program's run there. */
HW_HIDDEN bool hw_freeing_is(MPI_Comm comm);

/* Frees one from within MPI, by `bottom`. False: the MPI refuses, and is to say so once more. */
HW_HIDDEN bool hw_comm_freed_within(int (*bottom)(MPI_Comm *comm), MPI_Comm *comm);

#endif
