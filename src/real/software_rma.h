/* SPDX-License-Identifier: BSD-3-Clause */
/* This file tells who applies an accumulate, and when. */
#ifndef HW_REAL_SOFTWARE_RMA_H
#define HW_REAL_SOFTWARE_RMA_H

#include <stdbool.h>

/* True if every accumulate on a window of MPI_Win_create is applied whole by the CPU of its target, inside a
 * call of MPI of the target's, to host memory: then a lock that the target holds around its calls orders its
 * accumulates with those of others. So it is with MPICH 4 and later on ch4 and with Intel MPI, whose active
 * messages, and the software atomics of libfabric and UCX under them, are served by the target's progress.
 * It is not:
 *
 * - on Open MPI, where the origin of an accumulate takes a lock, gets, computes and puts back;
 * - where a device of a network or an accelerator is open in this process, which may do it itself, or whose
 *   memory an origin may name;
 * - where a thread of the MPI or of libfabric makes progress at any time, since the environment asks for one.
 *
 * What is not known is false. After MPI_Init*; reads /proc and the environment. */
bool hw_real_is_accumulate_in_calls(void);

/* True if a character device that may be a network's or an accelerator's is open in this process; also where
 * /proc does not tell. After MPI_Init*. */
bool hw_real_has_device(void);

#endif
