/* SPDX-License-Identifier: BSD-3-Clause */
/* A user process and the ghosts of its job, from MPI_Init* on. */
#ifndef HW_GHOST_USER_H
#define HW_GHOST_USER_H

#include "base/status.h"

#include <stdint.h>

/* In user processes, after the world was split; collective with hw_ghost_run: opens every service. Anything
 * but HW_OK, after one line, ends the job. `at_end` runs in MPI_Finalize, when the program can do nothing
 * more, and ends with hw_ghost_farewell. */
enum hw_status hw_ghost_user_start(void (*at_end)(void));

/* What the ghost that serves this process took of its core so far, ns. It tells before it sleeps, and every
 * 20 ms while it spins. */
uint64_t hw_ghost_user_cpu_ns(void);

#endif
