/* SPDX-License-Identifier: BSD-3-Clause */
/* The ending keeps MPI_Finalize of an MPICH over UCX going, in which processes wait for one another's
 * progress (doc/adr/0019).
 *
 * MPICH 4.0 closes its UCX endpoints, each with whatever the peer must answer, and then enters the launcher's
 * barrier: a read(2) that returns when all have come. Who is there makes no progress any more, so the others'
 * endpoints are never closed, and a message that needs this process's part is never sent. Here that read
 * looks at the network until the launcher has answered. Nothing else is changed: what MPICH flushes and
 * closes, it flushes and closes, and no process has to know whether others have this library.
 *
 * It is only where the MPI itself calls ucp_disconnect_nb and read, and within these two calls. */
#ifndef HW_REAL_ENDING_H
#define HW_REAL_ENDING_H

/* Right before and right after the real MPI_Finalize or MPI_Session_finalize: by the thread that calls it.
 * Sessions may be finalized by several threads at once. Options are loaded. */
void hw_real_ending_begin(void);
void hw_real_ending_end(void);

#endif
