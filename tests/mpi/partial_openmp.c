/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a large datatype is packed beside an OpenMP runtime that has only one of the entry points. */
#include "check.h"

enum { ROWS = 1 << 14, WORDS = 5, STRIDE = 7, CALLS = 8 };

int omp_get_max_threads(void);
int omp_get_max_threads(void) { return 4; }

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    static int grid[ROWS * STRIDE], packed[ROWS * WORDS];
    MPI_Datatype rows;
    MPI_Type_vector(ROWS, WORDS, STRIDE, MPI_INT, &rows);
    MPI_Type_commit(&rows);
    for (int call = 0; call < CALLS; call++) {
        int position = 0;
        check_fill(grid, (size_t)ROWS * STRIDE, (unsigned)call);
        MPI_Pack(grid, 1, rows, packed, sizeof packed, &position, MPI_COMM_WORLD);
        CHECK(position == (int)sizeof packed);
        for (int i = 0; i < ROWS * WORDS; i++)
            CHECK(packed[i] == grid[i / WORDS * STRIDE + i % WORDS]);
    }
    MPI_Type_free(&rows);
    MPI_Finalize();
    return 0;
}
