/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes (MPI-4.1 section 3.8), which tell the true length of what ghosts move. As an engine that is asked.
 */
#ifndef HW_ENGINES_P2P_USER_PROBES_H
#define HW_ENGINES_P2P_USER_PROBES_H

#include "real/real.h"

int hw_p2p_probe(int source, int tag, MPI_Comm comm, MPI_Status *status);
int hw_p2p_iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status);
int hw_p2p_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status);
int hw_p2p_improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status);

#endif
