/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HW_MPI_ABORT_H
#define HW_MPI_ABORT_H

#include "base/visibility.h"

#include <stdbool.h>

/* Before MPI_Abort that is called inside MPI, as by the program's error handler. False: MPI goes on. */
HW_HIDDEN bool hw_abort_nested(int errorcode);

#endif
