/* SPDX-License-Identifier: BSD-3-Clause */
/* This poll needs no request of the program: it is MPI_Test on a receive of ours that nothing ever matches,
 * on a communicator of this process alone. (MPI_Iprobe and calls on null requests make no progress on some
 * MPIs.) */
#ifndef HW_PROGRESS_POLL_H
#define HW_PROGRESS_POLL_H

#include "base/status.h"
#include "real/real.h"

#include <stdbool.h>

/* Makes the communicator. After MPI_Init*; needs the world model. HW_MPI if the real MPI refuses. */
enum hw_status hw_poll_open(void);
bool hw_poll_is_open(void);

/* One poll; one thread at a time. The first one posts the receive: on Intel MPI a posted receive that does
 * not match makes a message within the node cost up to a quarter more (its data is copied once more), which
 * a program whose own requests can be asked about need not pay. */
void hw_poll(void);

/* Takes the receive back. Before MPI_Finalize. */
void hw_poll_close(void);

#endif
