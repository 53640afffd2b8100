/* SPDX-License-Identifier: BSD-3-Clause */
/* The record: one JSON file per process, written when MPI ends, before that now and then, and when the
 * process ends otherwise (recorder.h). Its fields: spec/record.toml. */
#ifndef HW_PROFILE_RECORD_H
#define HW_PROFILE_RECORD_H

#include "base/status.h"
#include "profile/record/fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the process ended, as far as the record knows. */
enum hw_record_ending {
    HW_RECORD_COMPLETE,   /* MPI_Finalize, or the end of the last session */
    HW_RECORD_CHECKPOINT, /* it went on: killed, or hanging, if there is no later record */
    HW_RECORD_ABORTED,    /* MPI_Abort with this code */
    HW_RECORD_EXITED,     /* exit, or a return from main, without MPI_Finalize */
    HW_RECORD_SIGNAL,     /* this signal */
};

/* Facts for the record that only upper layers know. Strings are owned by the caller and static. */
struct hw_record_facts {
    int rank; /* in MPI_COMM_WORLD; -1 if there is no world */
    int size;
    bool is_spawned;      /* by MPI_Comm_spawn: its world is not that of the processes that were launched */
    const char *mpi;      /* version string of the real MPI, first line */
    const char *engine;   /* "thread" or "off" */
    const char *priority; /* of the progress thread: "normal" or "rt" */
    const char *trigger;  /* "events", "tick", "helper" or "none" */
    const char *trigger_why; /* where HEADWAY_TRIGGER=auto chose it; else empty, or NULL */
    int ghost;               /* rank in the MPI's own world of the ghost that serves this process; -1: none */
    uint64_t ghost_cpu_ns;   /* what that ghost took of its core; others that it serves tell the same */
    const char *placement;   /* how the ghosts of its node were chosen; "none" without ghosts */
    const char *p2p;         /* who moves large messages: "thread" or "ghost"; NULL: "thread" */
    const char *p2p_reason;  /* why not ghosts, where they were asked for; NULL: none */
    uint64_t eager_limit_bytes;
    uint64_t thread_cpu_ns; /* CPU time of the progress thread */
    struct hw_record_part packing;
    struct hw_record_part routes;
};

/* Starts the wall clock of the record, which will lie in this directory; empty: there will be none. The
 * program may go to another one meanwhile. */
void hw_record_begin(const char *directory);

/* Tries, at the start, whether a record can be written there: a long run should not end without one for a
 * slip in a path. One process says so in a line (`is_speaker`); the others keep silent at the end as well
 * where the same directory is everybody's (`are_alike`). The job goes on. */
void hw_record_check(bool is_speaker, bool are_alike);

/* The same before MPI_Init, for who needs a record (HEADWAY_RECORD_NEEDED). False if there will be none; a
 * line says so. */
bool hw_record_is_possible(void);

/* Counts a reason for which an engine declined. `reason` is a string literal; at most 16 different ones
 * are kept. Any thread. */
void hw_record_declined(const char *reason);

/* Whether there is a directory for records. */
bool hw_record_is_wanted(void);

/* Writes headway.<rank>.json (headway.pid<pid>.json without a rank) into the directory, if there is one; of a
 * process that was spawned spawned/headway.<rank>.<pid>.json, since each world has a rank 0. The name is that
 * of the newest record that is whole. HW_NOMEM if it cannot be written; one line says why. One thread at a
 * time. `code`: of MPI_Abort, or the signal's number. */
enum hw_status hw_record_write(const struct hw_record_facts *facts, enum hw_record_ending ending, int code);

#endif
