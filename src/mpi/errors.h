/* The program's error handlers (MPI-4.1 section 9.3), and whether the progress thread may ask about its
 * requests.
 *
 * On the MPICH family asking about a request that failed raises its error (real/quirks.h). The thread asks
 * only where nobody can tell: the handler it would be raised at returns, or the program's own completing
 * call ends the job as well. */
#ifndef HW_MPI_ERRORS_H
#define HW_MPI_ERRORS_H

/* With the engine's start: the handlers that the launcher gave. */
void hw_errors_start(void);

/* A session or a communicator made from one may have any handler: from now on nobody asks. */
void hw_errors_add_session(void);

#endif
