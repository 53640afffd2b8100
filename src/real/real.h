/* SPDX-License-Identifier: BSD-3-Clause */
/* Every call of ours to the MPI underneath goes through one of two tables; there is no other way out.
 *
 * hw_real holds, for MPI_X, the next MPI_X in the chain after us: another preloaded tool, else the MPI
 * itself. hw_bottom holds PMPI_X of the MPI itself; it serves MPI's calls to itself and our own polls.
 * Both are empty until the first entry of any thread fills them (hw_inside_register), so the hot path has no
 * check, nothing needs MPI to be loaded before the program uses it, and no order of libraries matters.
 * Entries of class leaf register nobody: their members in hw_real start out at functions that fill the tables
 * and go on. A unit test may overwrite a member to inject a failure.
 *
 * Any thread may call, before MPI_Init too. Members are named without the MPI_ prefix. */
#ifndef HW_REAL_REAL_H
#define HW_REAL_REAL_H

#include "base/status.h"
#include "base/visibility.h"

#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#include <stdbool.h>
#include <stddef.h>

#include "real_table.h"

/* The ABI that this library is built for. Always 0 or 1, so that a file which forgets this header does not
 * compile (-Wundef); `#ifdef OPEN_MPI` without mpi.h would silently mean MPICH. */
#ifdef OPEN_MPI
#define HW_ABI_OPEN_MPI 1
#else
#define HW_ABI_OPEN_MPI 0
#endif

extern HW_HIDDEN struct hw_real_table hw_real;
extern HW_HIDDEN struct hw_real_table hw_bottom;

/* True while the next library in the chain has a call of ours that it is to pass on, through PMPI, and with
 * it through us: that is no call of the program's from within MPI. Of functions about which engines are asked
 * there, or of which we change something there (spec, `within`, `after`), alone; where the next one is the
 * MPI itself nothing is marked, and nothing paid for it. */
extern HW_HIDDEN _Thread_local bool hw_real_next_has_call;

/* MPIX_Request_is_complete of the MPI itself: tells of any request, persistent ones too, and makes no
 * progress, raises no error and keeps the status. NULL where there is none (all but MPICH 5), and before the
 * tables are filled. */
extern HW_HIDDEN int (*hw_real_request_is_complete)(MPI_Request request);

/* Fills both tables, once. HW_OK, or HW_BAD_INPUT after one line when the process holds no MPI of this
 * library's ABI. The first entry a thread makes calls it: nobody else has to. */
enum hw_status hw_real_load(void);

/* A function of the next library in the chain, or the MPI's, for what has no member; NULL: there is none, or
 * no entry was called yet. */
void *hw_real_next(const char *name);

/* True if there is an MPI in the process, of whatever ABI. A job has programs without, which the library is
 * preloaded into like others. */
bool hw_real_is_there(void);

/* The same as hw_real_load, and ends the process (exit code 78, before any communication) where there is
 * none. */
void hw_real_load_or_exit(void);

/* False for a function that the running MPI lacks: its members then log once and return an MPI error. */
bool hw_real_has(size_t offset);
#define HW_REAL_HAS(function) hw_real_has(offsetof(struct hw_real_table, function))

/* False when the running MPI completes requests through a function we do not stand in front of, or when
 * our entry points are not the ones the program reaches; one line said so. Then no engine may run. */
bool hw_real_is_complete(void);

#include "real/constants.h"
#include "real_inline.h"

#endif
