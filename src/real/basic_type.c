/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/basic_type.h"

#include <stddef.h>

#if HW_ABI_OPEN_MPI

unsigned hw_real_type_operations(MPI_Datatype datatype)
{
    (void)datatype;
    return 0;
}

unsigned hw_real_op_operation(MPI_Op op)
{
    (void)op;
    return 0;
}

#else

enum {
    MOVED = HW_REAL_REPLACE | HW_REAL_READ,
    COMPLEX = MOVED | HW_REAL_ADD,
    REAL = COMPLEX | HW_REAL_ORDER,
    FORTRAN_INTEGER = REAL | HW_REAL_BITWISE | HW_REAL_COMPARE, /* MPI_AINT and its like too */
    C_INTEGER = FORTRAN_INTEGER | HW_REAL_LOGICAL,
    BYTES = MOVED | HW_REAL_BITWISE | HW_REAL_COMPARE,
    BOOLEAN = MOVED | HW_REAL_LOGICAL | HW_REAL_COMPARE,
};

/* Those that programs use most come first. */
static const struct {
    MPI_Datatype datatype;
    unsigned operations;
} basic[] = {
    {MPI_DOUBLE, REAL},
    {MPI_INT, C_INTEGER},
    {MPI_LONG, C_INTEGER},
    {MPI_INT64_T, C_INTEGER},
    {MPI_UINT64_T, C_INTEGER},
    {MPI_FLOAT, REAL},
    {MPI_LONG_LONG_INT, C_INTEGER},
    {MPI_UNSIGNED_LONG, C_INTEGER},
    {MPI_INT32_T, C_INTEGER},
    {MPI_UINT32_T, C_INTEGER},
    {MPI_UNSIGNED, C_INTEGER},
    {MPI_UNSIGNED_LONG_LONG, C_INTEGER},
    {MPI_BYTE, BYTES},
    {MPI_C_DOUBLE_COMPLEX, COMPLEX},
    {MPI_DOUBLE_PRECISION, REAL},
    {MPI_INTEGER, FORTRAN_INTEGER},
    {MPI_REAL, REAL},
    {MPI_DOUBLE_COMPLEX, COMPLEX},
    {MPI_COMPLEX, COMPLEX},
    {MPI_AINT, FORTRAN_INTEGER},
    {MPI_COUNT, FORTRAN_INTEGER},
    {MPI_OFFSET, FORTRAN_INTEGER},
    {MPI_C_FLOAT_COMPLEX, COMPLEX},
    {MPI_SHORT, C_INTEGER},
    {MPI_UNSIGNED_SHORT, C_INTEGER},
    {MPI_SIGNED_CHAR, C_INTEGER},
    {MPI_UNSIGNED_CHAR, C_INTEGER},
    {MPI_INT16_T, C_INTEGER},
    {MPI_UINT16_T, C_INTEGER},
    {MPI_INT8_T, C_INTEGER},
    {MPI_UINT8_T, C_INTEGER},
    {MPI_CHAR, MOVED},
    {MPI_C_BOOL, BOOLEAN},
};

unsigned hw_real_type_operations(MPI_Datatype datatype)
{
    for (size_t i = 0; i < sizeof basic / sizeof basic[0]; i++)
        if (basic[i].datatype == datatype)
            return basic[i].operations;
    return 0;
}

unsigned hw_real_op_operation(MPI_Op op)
{
    if (op == MPI_SUM || op == MPI_PROD)
        return HW_REAL_ADD;
    if (op == MPI_REPLACE)
        return HW_REAL_REPLACE;
    if (op == MPI_NO_OP)
        return HW_REAL_READ;
    if (op == MPI_MAX || op == MPI_MIN)
        return HW_REAL_ORDER;
    if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR)
        return HW_REAL_BITWISE;
    if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR)
        return HW_REAL_LOGICAL;
    return 0;
}

#endif
