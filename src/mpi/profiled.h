/* SPDX-License-Identifier: BSD-3-Clause */
/* A generated entry calls these around the real call while profiling is on, with requests as handles.
 * Program's threads, inside an entry. */
#ifndef HW_MPI_PROFILED_H
#define HW_MPI_PROFILED_H

#include "profile/callers/callers.h"
#include "profile/callers/packings.h"
#include "profile/callers/paths.h"
#include "profile/calls/calls.h"
#include "profile/calls/one_sided.h"
#include "progress/inside.h"
#include "real/constants.h"
#include "real/real.h"
#include "real/type_size.h"

/* In an entry that took the slow way: where it was called from, with its callers if they are wanted. */
static inline const void *hw_profiled_site(void)
{
    return hw_paths_depth > 1 ? hw_paths_find(hw_inside.site, hw_inside.frame) : hw_inside.site;
}

/* After a call that names a count and a datatype which are significant on this rank, and has succeeded: its
 * bytes. `frees` is hw_real_type_frees from before it, since another thread may have freed the datatype while
 * the call waited: 0 then, unless the size is known. */
uint64_t hw_profiled_bytes(MPI_Count count, MPI_Datatype datatype, unsigned frees);

/* After a call that names this communicator, if it succeeded: it is looked up, and named if it is new. */
void hw_profiled_comm(struct hw_profile_call *call, int rc, MPI_Comm comm);

/* The whole of a call on a communicator that leaves nothing pending, after it; returns what hw_profile_note
 * does. */
const void *hw_profiled_note(uint64_t began_ns, const char *function, const void *site, uint64_t bytes,
                             int rc, MPI_Comm comm);

/* The same for a call with partners in it: ranks of the communicator, or as in profile/waits/delays.h. */
const void *hw_profiled_note_with(uint64_t began_ns, const char *function, const void *site, uint64_t bytes,
                                  int rc, MPI_Comm comm, int gives, int takes, int tag);

/* The same for a probe that does not block, or MPI_Win_test: from whom the message is that it found, if it
 * did. */
void hw_profiled_note_probe(uint64_t began_ns, const char *function, const void *site, int rc, MPI_Comm comm,
                            bool is_found, int took, int tag);

/* The same for a one-sided call, but for the time it ended, which is now, and its site, where the program
 * goes on. */
void hw_profiled_note_window(const struct hw_one_sided_call *call, int rc);

/* The memory that a call gave by a pointer to a pointer of any type. */
const void *hw_profiled_base(int rc, const void *baseptr);

/* After a call that made a window, or memory for one; before it is freed, in callbacks of the program too. */
void hw_profiled_window_made(int rc, MPI_Win win, MPI_Comm comm, enum hw_one_sided_memory memory,
                             const void *base, MPI_Count size);
void hw_profiled_window_forget(const MPI_Win *win);
void hw_profiled_memory(int rc, const void *base, MPI_Count size);

/* After hw_profiled_comm of a post with partners. */
static inline void hw_profiled_with(struct hw_profile_call *call, MPI_Comm comm, int gives, int takes,
                                    int tag)
{
    if (call->comm)
        call->who = (struct hw_delay_who){(uint64_t)(uintptr_t)comm, gives, takes, tag};
}

static inline int hw_profiled_dest(int dest) { return dest < 0 ? HW_DELAY_NOBODY : dest; /* MPI_PROC_NULL */ }
static inline int hw_profiled_source(int source)
{
    return source >= 0 ? source : source == HW_PROC_NULL ? HW_DELAY_NOBODY : HW_DELAY_ANYBODY;
}

/* The same after a call that tells from whom it took: a rank even where the program took from anybody. */
static inline int hw_profiled_took(int rc, int source, const MPI_Status *status)
{
    return hw_profiled_source(rc == MPI_SUCCESS && source == HW_ANY_SOURCE ? status->MPI_SOURCE : source);
}

/* After MPI_Comm_set_name; before MPI_Comm_free and MPI_Comm_disconnect, in callbacks of the program too. */
void hw_profiled_comm_named(int rc, MPI_Comm comm, const char *name);
void hw_profiled_comm_forget(const MPI_Comm *comm);

/* After a call that may have posted (or defined) *request. */
void hw_profiled_posted(struct hw_profile_call *call, int rc, const MPI_Request *request, bool is_persistent);

/* After MPI_Start or MPI_Startall. */
void hw_profiled_started(struct hw_profile_call *call, int rc, int count, const MPI_Request *requests);

/* Around a door (MPI-4.1 section 3.7.5). `is_all_complete` where the call says so itself; otherwise a
 * request is complete if its handle changed, or if the call named it: a persistent one keeps its handle. */
void hw_profiled_hold(struct hw_profile_call *call, int count, const MPI_Request *requests, bool is_blocking);
void hw_profiled_told(struct hw_profile_call *call, int count, const int *indices);

/* Where the program wants no statuses, but a request takes from whoever sends first: `own`, of so many, if
 * the door writes no more. */
enum { HW_PROFILED_STATUS_COUNT = 16 };
MPI_Status *hw_profiled_statuses(const struct hw_profile_call *call, int count, MPI_Status *statuses,
                                 MPI_Status *own);

/* After a door that succeeded: whom the requests at these indices (NULL: at 0, 1, ...) took from. */
void hw_profiled_sources(struct hw_profile_call *call, int count, const int *indices,
                         const MPI_Status *statuses);
void hw_profiled_release(struct hw_profile_call *call, const MPI_Request *requests, bool is_all_complete,
                         bool is_blocking);

/* Before MPI_Request_free. */
void hw_profiled_forget(const MPI_Request *request);

/* Before a door within a callback of the program, whose end is not seen. */
void hw_profiled_drop(int count, const MPI_Request *requests);

#endif
