/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives that begin after the sends of their series (doc/adr/0053).
 *
 * A process that is a moment ahead announces its large message before the other one posts the receive. That
 * MPI_Irecv then answers at once, before the own MPI_Isend announces anything; the process ahead sends, and
 * its answer to the announcement that comes next waits behind its own data on the same connection. The two
 * directions go one after the other, step for step, where they could go at once.
 *
 * So a large receive of a program that is known to send next is made persistent (MPI_Recv_init), which the
 * program does not see (is_once in objects/request.h), and is started after those sends: by the last of them,
 * by any call of MPI that is not listed (spec, `postponing`), before it does anything, or by the progress
 * thread in its turn. Where the thread does not take part it is started at once. Starts of the program's own
 * persistent receives wait in the same way.
 *
 * As long as one thread of the program calls MPI, though it may ask for MPI_THREAD_MULTIPLE: the first call
 * of another one starts what is postponed and ends it. Functions that do not say otherwise are called inside
 * a hook. */
#ifndef HW_PROGRESS_POSTPONED_H
#define HW_PROGRESS_POSTPONED_H

#include "base/atomic.h"
#include "base/visibility.h"
#include "progress/inside.h"
#include "real/real.h"

#include <stdbool.h>
#include <stdint.h>

/* After each real MPI_Init* and MPI_Session_init: the program's thread level there. */
void hw_postponed_joined(int level, bool is_session);

/* Nothing is postponed any more. Any thread. */
void hw_postponed_stop(void);

/* In a child of fork(2). */
void hw_postponed_fork_child(void);

/* Whether anything may be postponed; any thread. */
bool hw_postponed_may(void);

/* From how many bytes on receives are postponed from now on, UINT64_MAX: none. Heeded where the user leaves
 * the choice to us. */
void hw_postponed_want(uint64_t least_bytes);

extern HW_HIDDEN atomic_uint_fast64_t hw_postponed_least_bytes;
static inline bool hw_postponed_is_wanted(void)
{
    return hw_atomic_load_relaxed(&hw_postponed_least_bytes) != UINT64_MAX;
}

/* The progress thread starts them so long after the first of them was posted, whatever it holds back for. */
#define HW_POSTPONED_MOST_NS UINT64_C(5000000)

/* For how long they may still wait; 0: there are none, 1: no longer. Any thread. */
uint64_t hw_postponed_left_ns(void);
static inline bool hw_postponed_is_overdue(void) { return hw_postponed_left_ns() == 1; }

/* Whether one that is posted now may be postponed. */
bool hw_postponed_is_possible(int source, uint64_t bytes);

/* Whether a receive that is posted now may match what a postponed one is to match: receives match in the
 * order of their posts. */
bool hw_postponed_is_rival(int source, int tag, MPI_Comm comm);

/* Makes the receive and postpones its start. An MPI error code, raised: nothing is postponed then. */
int hw_postponed_receive(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                         MPI_Comm comm, MPI_Request *request);

/* Postpones the start of persistent receives, which the program starts. False: they are to be started now,
 * and nothing was done. */
bool hw_postponed_restart(int count, const MPI_Request *requests, uint64_t least_bytes);

/* Starts what is postponed. The progress thread, too, in its turn. */
static inline void hw_postponed_start(void)
{
    if (hw_inside_has_postponed())
        hw_inside_start_postponed();
}

#endif
