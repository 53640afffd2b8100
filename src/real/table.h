/* SPDX-License-Identifier: BSD-3-Clause */
/* This header stands between the generated real_table.c and real.c; nobody else includes it. */
#ifndef HW_REAL_TABLE_ENTRIES_H
#define HW_REAL_TABLE_ENTRIES_H

#include "real/real.h"

#include <stdint.h>

/* One for each member of struct hw_real_table, in its order, which is that of the names. No pointers: what
 * has to be relocated costs each process memory of its own. */
struct hw_real_entry {
    uint16_t name_at; /* where its name begins in hw_real_names */
    bool is_interposed;
};

extern const struct hw_real_entry hw_real_entries[HW_REAL_FUNCTION_COUNT];
extern const char hw_real_names[]; /* "PMPI_X" after "PMPI_X"; one character on, each reads "MPI_X" */

/* What both members hold when the running MPI lacks the function. */
void *hw_real_missing_function(size_t index);

/* The next library's functions, as far as hw_real has what marks their calls; NULL: none stands before this.
 */
extern HW_HIDDEN struct hw_real_table hw_real_next_table;
void *hw_real_marked_function(size_t index);

static inline const char *hw_real_pmpi_name(size_t index)
{
    return hw_real_names + hw_real_entries[index].name_at;
}

/* Logs once per process that the running MPI has no such function; returns the MPI error to hand back. */
int hw_real_missing(const char *name);

/* For unit tests, which hold no MPI and fill the members they need: hw_real_load then finds nothing to do. */
void hw_real_pretend_loaded(void);

#endif
