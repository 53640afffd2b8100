/* SPDX-License-Identifier: BSD-3-Clause */
/* A quirk is what an MPI gets wrong, or does at a price; each was found by a test or measured. Partitioned
 * operations and file access were tried with both threads in MPI at once, and not again in turns
 * (doc/adr/0015). */
#ifndef HW_REAL_QUIRKS_H
#define HW_REAL_QUIRKS_H

#include "real/real.h"

#include <stdbool.h>

#if HW_ABI_OPEN_MPI

enum {
    /* MPI_Request_get_status raises the error of a request that failed. */
    HW_REAL_ASKING_RAISES = 0,
    /* MPI_Request_get_status makes a persistent request that it finds complete inactive. */
    HW_REAL_ASKING_ENDS = 0,
    /* part/persist (5.0) fails or hangs when another thread makes progress: tests/mpi/persistent.c, 8 of 8
       runs. */
    HW_REAL_IS_PARTITIONED_SAFE = 0,
    /* OMPIO (4.1) crashed once in mpi4py's nonblocking collective file access under a second thread's
       progress. */
    HW_REAL_IS_IO_SAFE = 0,
    /* MPI_Win_free deletes attributes before it waits for others, and frees nothing where that fails. Here it
       does so when the window is gone. */
    HW_REAL_DELETES_OF_WINDOW_FIRST = 0,
    /* Attributes of a communicator, and of a datatype, that is freed while operations use it are deleted when
       those complete. Here of datatypes alone, which nonblocking collectives and other datatypes hold. */
    HW_REAL_FREES_COMMS_LATE = 0,
    HW_REAL_FREES_TYPES_LATE = 1, /* tests/mpi/late_attributes.c */
    /* A message too long for its receive is written whole, beyond the buffer, where the datatype has no gaps
       (4.1, 5.0): tests/mpi/packed_corners.c. */
    HW_REAL_TRUNCATION_OVERFLOWS = 1,
    /* Processes that make progress at different moments while several MPI_Comm_idup are outstanding do not
       agree on the communicators: wrong sums, or a hang, plain too if they call MPI_Iprobe between:
       tests/mpi/duplicates.c. */
    HW_REAL_IS_DUPLICATION_SAFE = 0,
    /* part/persist (5.0) duplicates the world of all processes twice, with MPI_Comm_idup, in the progress of
       a process that has called MPI_Psend_init or MPI_Precv_init: nothing partitioned moves before all have.
     */
    HW_REAL_PARTITIONED_NEEDS_WORLD = 1,
    HW_REAL_PACKS_DENSE_STRUCTS = 0,
    /* From so many bytes on it packs a message while earlier parts of it travel, and sends another way what
       has no gaps: halos of 1 MiB that are packed before take 1.19 to 1.49 of plain
       (doc/results/pack-p2p.md). */
    HW_REAL_PACKS_WHILE_SENDING_BYTES = 128 * 1024,
    /* The status of MPI_Isendrecv and MPI_Isendrecv_replace is what was in its memory before. */
    HW_REAL_IS_ISENDRECV_MUTE = 0,
    /* Collectives refuse a buffer that is sent from and received into. */
    HW_REAL_REFUSES_ALIASES = 0,
    /* A call that failed may return MPI_SUCCESS once a handler of the program's has heard of it. */
    HW_REAL_MAY_HIDE_ERRORS = 0,
};

#else

enum {
    /* MPICH and Intel MPI do, at MPI_COMM_WORLD or MPI_COMM_SELF: tests/mpi/truncation.c. */
    HW_REAL_ASKING_RAISES = 1,
    HW_REAL_ASKING_ENDS = 1, /* MPICH 5: its status is lost, too; MPICH 4.0 does not */
    HW_REAL_IS_PARTITIONED_SAFE = 1,
    HW_REAL_IS_IO_SAFE = 1,
    HW_REAL_IS_DUPLICATION_SAFE = 1,
    HW_REAL_FREES_COMMS_LATE = 1,        /* tests/mpi/late_attributes.c */
    HW_REAL_DELETES_OF_WINDOW_FIRST = 1, /* tests/mpi/window_deleted.c */
    HW_REAL_FREES_TYPES_LATE = 1,
    HW_REAL_TRUNCATION_OVERFLOWS = 0,
    HW_REAL_PARTITIONED_NEEDS_WORLD = 0,
    /* A struct without gaps whose extent was resized is packed field by field: 448 KiB of {double, int, 2
       double} take 0.8 ms on MPICH 4 and 5, 0.2 on Intel MPI, as MPI_PACKED 0.015. */
    HW_REAL_PACKS_DENSE_STRUCTS = 1,
    HW_REAL_PACKS_WHILE_SENDING_BYTES = 0, /* of no size */
    HW_REAL_IS_ISENDRECV_MUTE = 1,         /* tests/mpi/moved.c */
    HW_REAL_REFUSES_ALIASES = 1,
    HW_REAL_MAY_HIDE_ERRORS = 1, /* MPICH 5 */
};

#endif

/* True where answers to announcements, given while the process has own messages to announce, hold up these:
 * Open MPI, and MPICH but for MPICH 5, over TCP. An answer goes behind the data that are under way on the
 * connection, all of them: from then on the two directions take turns (doc/adr/0053, 0054). Intel MPI's
 * messages that are posted piece by piece in a computation gain where the thread answers meanwhile: 0.86 of
 * plain, and 0.96 where it comes after the last. */
bool hw_real_answers_hold_up(void);

/* True where a persistent request that MPI_Request_get_status has shown to be complete keeps its status until
 * it is completed: Open MPI, and MPICH 4.0 and 4.1. Of others it is not, or not known. */
bool hw_real_asking_keeps_status(void);

/* True where MPI_Waitall, MPI_Testall and MPI_Testany return MPI_SUCCESS, and raise nothing, for persistent
 * requests that failed: Open MPI 4. */
bool hw_real_loses_errors_of_persistent(void);

/* True where asking raises at MPI_COMM_WORLD alone: MPICH 4.0 and Intel MPI. MPICH 5 raises at MPI_COMM_SELF;
 * of others it is not known. */
bool hw_real_raises_at_world(void);

/* True where a call that is refused returns MPI_SUCCESS, and no handle, once a handler of the program's has
 * heard of it: MPICH 5. */
bool hw_real_hides_refusals(void);

/* True where the error of a request is raised at MPI_COMM_WORLD, whatever its communicator, but for
 * persistent ones: MPICH 4.0. */
bool hw_real_raises_requests_at_world(void);

/* True where MPI_Finalize ends though another process of the job has died, if the launcher lets the job go
 * on: Open MPI, started with --enable-recovery. Hydra ends the job in any case but for Intel's
 * (-disable-auto-cleanup), and with that MPI_Finalize of Intel MPI waits for the dead. */
bool hw_real_ends_without_dead(void);

/* True where a receive with gaps takes what was sent without them, as MPI_PACKED or with a datatype of the
 * same signature, whatever its elements are: MPICH 5, Intel MPI and Open MPI. MPICH 4.0 ends it as truncated,
 * plain too, where a part of the message ends within an element: of structs of several basic datatypes, and
 * of elements of more than HW_REAL_WHOLE_BYTES, from 8 KiB on (tests/mpi/packed_mixtures.c). Of others it is
 * not known. */
bool hw_real_takes_dense(void);
enum { HW_REAL_WHOLE_BYTES = 16 };

/* False where it does not take parts of such a message as they may come (real/parts.h): MPICH 5. */
bool hw_real_takes_parts(void);

/* False where that is so of matched receives alone: MPICH 5 over UCX truncates in MPI_Mrecv and MPI_Imrecv,
 * plain too, structs of several basic datatypes from 64 KiB on and elements of more than
 * HW_REAL_WHOLE_MATCHED_BYTES, and may abort then (tests/mpi/packed_mixtures.c between nodes). */
bool hw_real_takes_dense_matched(void);
enum { HW_REAL_WHOLE_MATCHED_BYTES = 8 };

/* Whether the operation whose status this is was cancelled. Intel MPI 2021.18 sets MPI_Test_cancelled of
 * messages that were received between nodes at random, plain too; of what was cancelled no data came. */
bool hw_real_is_cancelled(const MPI_Status *status);

/* True where operations on a window between nodes end the job if some of its processes, not all, had made
 * another before, which still lives: Intel MPI 2021.18 over libfabric, plain too, tests/mpi/beside.c. */
bool hw_real_confuses_windows(void);
#define HW_REAL_CONFUSED_WINDOW                                                                              \
    "a window that Intel MPI could take for one of others without ghosts: set "                              \
    "MPIR_CVAR_CH4_OFI_ENABLE_RMA=0"

/* Before the real MPI_Init*, where there will be ghosts: room for the accumulates of all windows in one.
 * Open MPI 5.0 uses up a buffer of 32 KiB that each window has, and may then hang, plain too
 * (doc/guide/troubleshooting.md); it gets one of 16 MiB, unless the environment says otherwise. */
void hw_real_make_room_for_accumulates(void);

/* True where the request of MPI_Rget ends before the data are there, plain too, if the target's datatype has
 * gaps and the window is not a dynamic one: MPICH 4.0 (doc/guide/troubleshooting.md). */
bool hw_real_ends_gets_early(void);

/* True where a process that waits for another node had better sleep, if others want its core, and the request
 * of a one-sided operation tells when (engines/rma/epoch/flush_wait.h): MPICH 5. Intel MPI waits dearly too,
 * but its operations take longer with requests; MPICH 4.0 ends some too early (hw_real_ends_gets_early). */
bool hw_real_gains_by_sleep(void);

/* True where the transport sends both directions of an exchange at once if it is told to, each process may
 * say so by itself, and the environment does not say otherwise: Intel MPI over TCP (doc/adr/0057). */
bool hw_real_may_be_told_of_directions(void);

/* Says so. Before the real MPI_Init*. */
void hw_real_tell_of_directions(void);

/* True where a poll that moves something within the node polls no network (engines/thread/burst.h): MPICH 5.
 */
bool hw_real_polls_node_first(void);

#endif
