/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes on sealed communicators (MPI-4.1 section 3.8). The MPI knows the small messages, the ghost the large
 * ones; which of two of one sender and tag was sent first their counts tell: with a large one its sender says
 * how many small ones were before it. As an engine that is asked. */
#ifndef HW_ENGINES_P2P_USER_SEALED_PROBES_H
#define HW_ENGINES_P2P_USER_SEALED_PROBES_H

#include "engines/p2p/user/sealed.h"

int hw_p2p_sealed_probe(struct hw_p2p_seal *seal, int source, int tag, MPI_Comm comm, MPI_Status *status);
int hw_p2p_sealed_iprobe(struct hw_p2p_seal *seal, int source, int tag, MPI_Comm comm, int *flag,
                         MPI_Status *status);
int hw_p2p_sealed_mprobe(struct hw_p2p_seal *seal, int source, int tag, MPI_Comm comm, MPI_Message *message,
                         MPI_Status *status);
int hw_p2p_sealed_improbe(struct hw_p2p_seal *seal, int source, int tag, MPI_Comm comm, int *flag,
                          MPI_Message *message, MPI_Status *status);

/* Receives a message that a matched probe has given to the program: *operation is under way. HW_DECLINES: it
 * is the MPI's. Else an MPI error code, raised. */
int hw_p2p_sealed_matched(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                          struct hw_p2p_operation **operation);

#endif
