/* SPDX-License-Identifier: BSD-3-Clause */
/* File access that goes on after the call (MPI-4.1 sections 14.4.5 and 14.4.6). */
#ifndef HW_MPI_IO_H
#define HW_MPI_IO_H

#include "real/quirks.h"

/* Where such access is not safe beside the progress of another thread: there is none from here on. Inside an
 * entry. */
void hw_io_leave(void);

/* Before a split collective begins, of which there is no request. */
static inline void hw_io_begins(void)
{
    if (!HW_REAL_IS_IO_SAFE)
        hw_io_leave();
}

#endif
