/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a ghost: it begins every service, takes commands, gives each service its turn and in between
 * makes MPI progress, which is what serves the operations redirected to it; then it ends. One thread. */
#ifndef HW_GHOST_RUN_H
#define HW_GHOST_RUN_H

/* In every process, before the real MPI_Init*: any may become a ghost. */
void hw_ghost_prepare(void);

/* In ghosts: serves until every user process has finished, then ends MPI and the process. */
_Noreturn void hw_ghost_run(void);

#endif
