/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI_Sendrecv_replace and MPI_Isendrecv_replace send, where the receive may begin before the send has
 * ended: a copy of the buffer's elements, laid out as they are. So the message keeps its datatype: what is
 * sent as MPI_PACKED MPICH 4.0 truncates in a receive of several basic datatypes. Threads of the program. */
#ifndef HW_ENGINES_P2P_USER_REPLACED_H
#define HW_ENGINES_P2P_USER_REPLACED_H

#include "real/real.h"

/* `count` elements at *copy; *memory is to be freed, after an error too. An MPI error
 * code, raised. */
int hw_p2p_replaced_copy(const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Comm comm,
                         void **memory, const void **copy);

#endif
