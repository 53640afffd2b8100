/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs share that post nonblocking collectives: what each sends, how a request is completed, and a
 * digest of what each has got. */
#ifndef HW_TESTS_MPI_COLL_H
#define HW_TESTS_MPI_COLL_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOORS = 7 };

static int rank, size, failures;
static size_t words; /* of a block */
static uint64_t digest = 14695981039346656037u;

static void mix(uint64_t value) { digest = (digest ^ value) * 1099511628211u; }

static inline unsigned pattern(int from, int to, int round, size_t i)
{
    return (unsigned)from * 2654435761u + (unsigned)to * 40503u + (unsigned)round * 7919u + (unsigned)i;
}

static inline void expect(const char *what, unsigned value, unsigned expected)
{
    mix(value);
    if (value != expected && failures++ < 5)
        printf("rank %d: %s: %u, not %u\n", rank, what, value, expected);
}

static void finish(MPI_Request *request, int door)
{
    int flag = 0, index, count, indices[1];
    MPI_Status status;
    switch (door) {
    case 0:
        MPI_Wait(request, MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Waitall(1, request, MPI_STATUSES_IGNORE);
        break;
    case 2:
        MPI_Waitany(1, request, &index, &status);
        break;
    case 3:
        MPI_Waitsome(1, request, &count, indices, &status);
        break;
    case 4:
        while (!flag)
            MPI_Test(request, &flag, &status);
        break;
    case 5:
        while (!flag)
            MPI_Testall(1, request, &flag, &status);
        break;
    default:
        while (!flag)
            MPI_Request_get_status(*request, &flag, &status);
        MPI_Wait(request, &status);
    }
    if (*request != MPI_REQUEST_NULL)
        failures++;
}

static inline unsigned *make(size_t count)
{
    unsigned *memory = malloc(count * sizeof *memory);
    memset(memory, 0xee, count * sizeof *memory);
    return memory;
}

/* The first word of the command line is the bytes of a block. */
static inline void start_with_level(int argc, char **argv, int level)
{
    int provided;
    MPI_Init_thread(&argc, &argv, level, &provided);
    if (provided < level)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    words = (size_t)(argc > 1 ? atol(argv[1]) : 100000) / sizeof(unsigned);
}

static inline void start(int argc, char **argv) { start_with_level(argc, argv, MPI_THREAD_SINGLE); }

/* An integer in every `stride`. */
static inline MPI_Datatype make_gaps(int stride)
{
    MPI_Datatype gaps;
    MPI_Type_create_resized(MPI_INT, 0, stride * (MPI_Aint)sizeof(int), &gaps);
    MPI_Type_commit(&gaps);
    return gaps;
}

static int say_and_end(void)
{
    printf("rank %d: %s, digest %016llx\n", rank, failures ? "bad" : "good", (unsigned long long)digest);
    MPI_Finalize();
    return failures > 0;
}

#endif
