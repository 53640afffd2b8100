/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: collectives whose size only their counts tell: in every one a process exchanges blocks of
 * BLOCK integers with the others, on average. Four processes. */
#include "check.h"

enum { BLOCK = 1024, RANKS = 4 };

static int sent[RANKS * 2 * BLOCK], received[RANKS * 2 * BLOCK];
static MPI_Request request;

static void finish(void)
{
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request == MPI_REQUEST_NULL);
}

/* Block i of 0.5, 1.5, 0.5, 1.5 times the size: what its sender and its receiver call it. */
static int uneven(int i) { return i % 2 ? BLOCK / 2 * 3 : BLOCK / 2; }

static void everywhere(void)
{
    int own[RANKS], theirs[RANKS], displs[RANKS], places[RANKS];
    MPI_Datatype types[RANKS];
    for (int i = 0; i < RANKS; i++) {
        own[i] = uneven(check_rank + i);
        theirs[i] = uneven(i);
        displs[i] = i * 2 * BLOCK;
        places[i] = displs[i] * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Iallgatherv(sent, uneven(check_rank), MPI_INT, received, theirs, displs, MPI_INT, comm, &request);
    finish();
    MPI_Ialltoallv(sent, own, displs, MPI_INT, received, own, displs, MPI_INT, comm, &request);
    finish();
    MPI_Ialltoallw(sent, own, places, types, received, own, places, types, comm, &request);
    finish();
    MPI_Ialltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, received, own, displs, MPI_INT, comm,
                   &request);
    finish();
    MPI_Ireduce_scatter(sent, received, theirs, MPI_INT, MPI_BXOR, comm, &request);
    finish();
    MPI_Alltoallv(sent, own, displs, MPI_INT, received, own, displs, MPI_INT, comm);
    MPI_Reduce_scatter(sent, received, theirs, MPI_INT, MPI_BXOR, comm);
}

static void from_and_to_one(void)
{
    int counts[RANKS], displs[RANKS];
    for (int i = 0; i < RANKS; i++) {
        counts[i] = BLOCK;
        displs[i] = i * 2 * BLOCK;
    }
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Igather(sent, BLOCK, MPI_INT, received, BLOCK, MPI_INT, 1, comm, &request);
    finish();
    MPI_Igatherv(sent, BLOCK, MPI_INT, received, counts, displs, MPI_INT, 2, comm, &request);
    finish();
    MPI_Iscatter(sent, BLOCK, MPI_INT, received, BLOCK, MPI_INT, 3, comm, &request);
    finish();
    MPI_Iscatterv(sent, counts, displs, MPI_INT, received, BLOCK, MPI_INT, 0, comm, &request);
    finish();
    if (check_rank == 0)
        MPI_Igatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, received, counts, displs, MPI_INT, 0, comm,
                     &request);
    else
        MPI_Igatherv(sent, BLOCK, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, 0, comm, &request);
    finish();
    MPI_Gatherv(sent, BLOCK, MPI_INT, received, counts, displs, MPI_INT, 2, comm);
    MPI_Scatter(sent, BLOCK, MPI_INT, received, BLOCK, MPI_INT, 3, comm);
#ifdef HAVE_LARGE_COUNTS
    MPI_Count large[RANKS] = {BLOCK, BLOCK, BLOCK, BLOCK};
    MPI_Aint places[RANKS] = {0, 2 * BLOCK, 4 * BLOCK, 6 * BLOCK};
    MPI_Igatherv_c(sent, BLOCK, MPI_INT, received, large, places, MPI_INT, 2, comm, &request);
    finish();
#endif
}

static void neighbours(void)
{
    MPI_Comm grid, graph, list;
    MPI_Datatype types[RANKS] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    int sides[2] = {2, 2}, periods[2] = {1, 1}, counts[RANKS] = {BLOCK, BLOCK, BLOCK, BLOCK};
    int displs[RANKS] = {0, BLOCK, 2 * BLOCK, 3 * BLOCK};
    int left = (check_rank + RANKS - 1) % RANKS, right = (check_rank + 1) % RANKS;
    MPI_Aint places[RANKS] = {0, 4 * BLOCK, 8 * BLOCK, 12 * BLOCK};
    MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periods, 0, &grid);
    MPI_Ineighbor_alltoallv(sent, counts, displs, MPI_INT, received, counts, displs, MPI_INT, grid, &request);
    finish();
    MPI_Ineighbor_alltoallw(sent, counts, places, types, received, counts, places, types, grid, &request);
    finish();
    MPI_Graph_create(MPI_COMM_WORLD, RANKS, (int[]){2, 4, 6, 8}, (int[]){1, 3, 0, 2, 1, 3, 0, 2}, 0, &graph);
    MPI_Ineighbor_allgatherv(sent, BLOCK, MPI_INT, received, counts, displs, MPI_INT, graph, &request);
    finish();
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &list);
    MPI_Ineighbor_alltoallv(sent, counts, displs, MPI_INT, received, counts, displs, MPI_INT, list, &request);
    finish();
    MPI_Comm_free(&grid);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&list);
}

/* One process gathers from three, and all four exchange with those at the other end. */
static void across(void)
{
    MPI_Comm half, both;
    int counts[RANKS] = {BLOCK, BLOCK, BLOCK, 1 << 20}; /* the last must not be read */
    int displs[RANKS] = {0, BLOCK, 2 * BLOCK, 0};
    bool is_alone = check_rank == 0;
    MPI_Comm_split(MPI_COMM_WORLD, is_alone, check_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_alone ? 1 : 0, 3, &both);
    if (!is_alone) /* one process is at the other end */
        counts[1] = 1 << 20;
    MPI_Iallgatherv(sent, BLOCK, MPI_INT, received, counts, displs, MPI_INT, both, &request);
    finish();
    if (is_alone)
        MPI_Igatherv(NULL, 0, MPI_INT, received, counts, displs, MPI_INT, MPI_ROOT, both, &request);
    else
        MPI_Igatherv(sent, BLOCK, MPI_INT, NULL, NULL, NULL, MPI_INT, 0, both, &request);
    finish();
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    CHECK(check_size == RANKS);
    everywhere();
    from_and_to_one();
    neighbours();
    across();
    check_report("blocks", 0);
    MPI_Finalize();
    return 0;
}
