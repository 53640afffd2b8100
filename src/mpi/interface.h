/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface keeps what the program asked for through include/headway.h and what outlives a start of the
 * engine. */
#ifndef HW_MPI_INTERFACE_H
#define HW_MPI_INTERFACE_H

/* An engine has just started, under the lock of MPI_Init*: it is told what the program wanted before. */
void hw_interface_engine_started(void);

#endif
