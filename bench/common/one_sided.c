/* SPDX-License-Identifier: BSD-3-Clause */
/* The datatypes one-sided operations have at their targets. */
#include "one_sided.h"

MPI_Datatype bench_target_type(int64_t count, bool is_strided)
{
    MPI_Datatype type;
    int edge = 1;
    while ((int64_t)(edge * 2) * (edge * 2) * (edge * 2) <= count)
        edge *= 2;
    int rest = (int)(count / ((int64_t)edge * edge));
    int grid[3] = {2 * edge, 2 * edge, 2 * rest}, box[3] = {edge, edge, rest}, start[3] = {0, 0, 0};
    if (is_strided)
        MPI_Type_create_subarray(3, grid, box, start, MPI_ORDER_C, MPI_DOUBLE, &type);
    else
        MPI_Type_contiguous((int)count, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}
