/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: MPI_Rget from a dynamic window, in many messages, with gaps at the target alone. The end of
 * the request says that all of it is there. */
#include "check.h"

enum { BLOCKS = 1 << 14, STRIDE = 3, LONGS = BLOCKS * STRIDE, ROUNDS = 40 };

static long got[BLOCKS];

static void get(MPI_Win win, MPI_Aint place, MPI_Datatype type)
{
    MPI_Request request;
    int wrong = 0;
    memset(got, 0xff, sizeof got);
    MPI_Rget(got, BLOCKS, MPI_LONG, check_right, place, 1, type, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < BLOCKS; i++)
        wrong += got[i] != LONGS * check_right + STRIDE * i;
    CHECK(wrong == 0);
}

int main(int argc, char **argv)
{
    MPI_Datatype type;
    MPI_Win win;
    MPI_Aint own, *places;
    long *given;
    MPI_Init(&argc, &argv);
    check_begin();
    places = calloc((size_t)check_size, sizeof *places);
    MPI_Alloc_mem(LONGS * sizeof *given, MPI_INFO_NULL, &given);
    for (int i = 0; i < LONGS; i++)
        given[i] = LONGS * check_rank + i;
    MPI_Get_address(given, &own);
    MPI_Allgather(&own, 1, MPI_AINT, places, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, given, LONGS * sizeof *given);
    MPI_Type_vector(BLOCKS, 1, STRIDE, MPI_LONG, &type);
    MPI_Type_commit(&type);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++)
        get(win, places[check_right], type);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    check_report("gaps", check_digest(got, sizeof got));
    MPI_Win_detach(win, given);
    MPI_Win_free(&win);
    MPI_Type_free(&type);
    MPI_Free_mem(given);
    free(places);
    MPI_Finalize();
    return 0;
}
