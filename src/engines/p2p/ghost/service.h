/* SPDX-License-Identifier: BSD-3-Clause */
/* Point-to-point messages as a service of ghosts: opens the memory that users and ghosts share, moves what
 * users post from the sender's memory into the staging memory of the receiver, and gives room back. */
#ifndef HW_ENGINES_P2P_GHOST_SERVICE_H
#define HW_ENGINES_P2P_GHOST_SERVICE_H

/* In every process, before the real MPI_Init*. */
void hw_p2p_service_add(void);

#endif
