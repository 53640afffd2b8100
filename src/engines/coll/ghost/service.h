/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking collectives as a service of ghosts. */
#ifndef HW_ENGINES_COLL_GHOST_SERVICE_H
#define HW_ENGINES_COLL_GHOST_SERVICE_H

#include <stdbool.h>

/* In every process, before the real MPI_Init*. */
void hw_coll_service_add(void);

/* In a process whose program has MPI_THREAD_MULTIPLE, before the service opens: the job declines. */
void hw_coll_service_decline_threads(void);

#endif
