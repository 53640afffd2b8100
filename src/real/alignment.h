/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HW_REAL_ALIGNMENT_H
#define HW_REAL_ALIGNMENT_H

#include "real/real.h"

#include <stddef.h>

/* What the program asks for with mpi_minimum_memory_alignment (MPI-4.1 sections 9.2 and 12.2.2), 1 if it does
 * not; 0: for what no memory has, which is the MPI's to say. Other keys are hints for one MPI or another,
 * which may be ignored (MPI-4.1 chapter 10); ARMCI-MPI gives alloc_shm, which only windows have. */
size_t hw_real_alignment_asked(MPI_Info info);

#endif
