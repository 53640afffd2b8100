/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges of two ranks by name, as programs write them: with persistent requests, with a receive that comes
 * after the computation, with MPI_Waitany, and so on. */
#ifndef HEADWAY_BENCH_PATTERN_H
#define HEADWAY_BENCH_PATTERN_H

#include "transfer.h"

/* Each rank sends `bytes` of a transfer to its partner, and receives as many. Its kind has no blocking form.
 * NULL for a name that is none of bench_pattern_names. */
const struct bench_transfer_kind *bench_pattern_find(const char *name);
extern const char *const bench_pattern_names;

#endif
