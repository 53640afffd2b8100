/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: datatypes that are made anew again and again, each of another shape, and used some dozen
 * times: as a program does that adapts its mesh. */
#include "check.h"

enum { DATATYPES = 300, USES = 20, BLOCKS = 500, STEP = 3, INTS = BLOCKS * STEP + 1 };

static int places[BLOCKS], sent[INTS], received[INTS], packed[BLOCKS];

static MPI_Datatype make(unsigned seed)
{
    MPI_Datatype made;
    for (int i = 0; i < BLOCKS; i++) {
        seed = seed * 1664525u + 1013904223u;
        places[i] = STEP * i + (int)(seed >> 16) % STEP;
    }
    MPI_Type_create_indexed_block(BLOCKS, 1, places, MPI_INT, &made);
    MPI_Type_commit(&made);
    return made;
}

int main(int argc, char **argv)
{
    uint64_t digest = 0;
    MPI_Init(&argc, &argv);
    check_begin();
    for (unsigned i = 0; i < DATATYPES; i++) {
        MPI_Datatype type = make(i);
        memset(received, 0, sizeof received);
        for (unsigned use = 0; use < USES; use++) {
            int position = 0;
            check_fill(sent, INTS, i + use);
            MPI_Pack(sent, 1, type, packed, sizeof packed, &position, MPI_COMM_SELF);
            digest = digest * 31 + check_digest(packed, sizeof packed);
            MPI_Sendrecv(sent, 1, type, 0, 1, received, 1, type, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
            digest = digest * 31 + check_digest(received, sizeof received);
        }
        MPI_Type_free(&type);
    }
    check_report("received", digest);
    MPI_Finalize();
    return 0;
}
