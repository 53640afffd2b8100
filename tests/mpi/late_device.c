/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: packs and sends datatypes with gaps; then loads the library named by the argument, as a
 * program does whose first call of a device's runtime comes late, and does it again. Without an argument only
 * once. */
#include "check.h"

#include <dlfcn.h>

enum { ROWS = 500, PITCH = 5, CALLS = 60, BYTES = ROWS * sizeof(int) };

static int sent[ROWS * PITCH], received[ROWS * PITCH];
static char packed[BYTES];

static void use(MPI_Datatype column, unsigned seed)
{
    uint64_t digest = 0;
    for (unsigned i = 0; i < CALLS; i++) {
        int position = 0;
        check_fill(sent, ROWS * PITCH, seed + i);
        memset(received, 0, sizeof received);
        MPI_Pack(sent, 1, column, packed, BYTES, &position, MPI_COMM_SELF);
        MPI_Sendrecv(sent, 1, column, 0, 1, received, 1, column, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        digest = digest * 31 + check_digest(packed, BYTES);
        digest = digest * 31 + check_digest(received, sizeof received);
    }
    check_report("used", digest);
}

int main(int argc, char **argv)
{
    MPI_Datatype column;
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Type_vector(ROWS, 1, PITCH, MPI_INT, &column);
    MPI_Type_commit(&column);
    use(column, 1);
    if (argc > 1) {
        CHECK(dlopen(argv[1], RTLD_NOW) != NULL);
        use(column, 2);
    }
    MPI_Type_free(&column);
    MPI_Finalize();
    return 0;
}
