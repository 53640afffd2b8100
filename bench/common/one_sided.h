/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs of one-sided operations share. */
#ifndef BENCH_COMMON_ONE_SIDED_H
#define BENCH_COMMON_ONE_SIDED_H

#include "bench.h"

/* COUNT doubles at a target, one after the other or, if strided, a box of them in a three-dimensional grid
 * twice as long in each direction (papers/002 section 7.3). A strided COUNT is a power of two. Committed; the
 * caller frees it. */
MPI_Datatype bench_target_type(int64_t count, bool is_strided);

#endif
