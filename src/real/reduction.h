/* SPDX-License-Identifier: BSD-3-Clause */
/* This file tells which reductions give the same whatever order numbers are combined in, on every MPI, and
 * what they are in C: a predefined operation on a predefined datatype for which MPI defines it (MPI-4.1
 * section 6.9.2). Any thread. */
#ifndef HW_REAL_REDUCTION_H
#define HW_REAL_REDUCTION_H

#include "real/real.h"

#include <stdbool.h>

enum hw_real_op {
    HW_OP_NONE,
    HW_OP_SUM,
    HW_OP_PROD,
    HW_OP_MIN,
    HW_OP_MAX,
    HW_OP_LAND,
    HW_OP_LOR,
    HW_OP_LXOR,
    HW_OP_BAND,
    HW_OP_BOR,
    HW_OP_BXOR,
    HW_OP_COUNT
};

/* Only the order of integers depends on their sign. */
enum hw_real_class { HW_CLASS_NONE, HW_CLASS_UNSIGNED, HW_CLASS_SIGNED, HW_CLASS_FLOATING };

struct hw_real_reduction {
    enum hw_real_op op; /* HW_OP_NONE: it is none of these */
    enum hw_real_class class;
    int size;          /* of an element: 1, 2, 4 or 8; 4 or 8 if it is floating */
    bool has_no_order; /* if it is none: since the order of additions or multiplications would show */
};

struct hw_real_reduction hw_real_reduction_of(MPI_Op op, MPI_Datatype datatype);

/* Looks up predefined handles in the MPI at `handle` (dlopen), once. */
void hw_real_reductions_load(void *handle);

#endif
