/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what the directed MPI programs share: checks, data, computation, digests.
 *
 * Each program prints `rank R CASE DIGEST` for each case and ends with status 0; the tests compare these
 * lines with and without the library. */
#ifndef TESTS_MPI_CHECK_H
#define TESTS_MPI_CHECK_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: rank %d: check failed: %s\n", __FILE__, __LINE__, check_rank,            \
                    #condition);                                                                             \
            fflush(stderr);                                                                                  \
            MPI_Abort(MPI_COMM_WORLD, 9);                                                                    \
        }                                                                                                    \
    } while (0)

/* Large enough for rendezvous everywhere, small enough to be quick. */
enum { LARGE_INTS = 96 * 1024, COMPUTE_US = 3000 };

static int check_rank = -1, check_size = 0;
static int check_left, check_right; /* neighbours in the ring of the world */
static volatile double check_sink;

static inline void check_begin(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    check_left = (check_rank + check_size - 1) % check_size;
    check_right = (check_rank + 1) % check_size;
}

/* Whether INFO has KEY, and its value; INFO is freed. */
static inline bool check_info_take(MPI_Info info, const char *key, char *value, int bytes)
{
    int flag = 0;
    MPI_Info_get(info, key, bytes - 1, value, &flag);
    MPI_Info_free(&info);
    return flag;
}

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5) /* sessions */
static inline bool check_session_is_multiple(MPI_Session session)
{
    char level[64] = "";
    MPI_Info info;
    MPI_Session_get_info(session, &info);
    return check_info_take(info, "thread_level", level, sizeof level) &&
           strcmp(level, "MPI_THREAD_MULTIPLE") == 0;
}
#endif

/* A duplicate that promises to use no wildcards and exact lengths: ghosts may seal it. The caller frees it.
 */
static inline MPI_Comm check_seal(MPI_Comm comm)
{
    MPI_Comm sealed;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_source", "true");
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Info_set(info, "mpi_assert_exact_length", "true");
    MPI_Comm_dup_with_info(comm, info, &sealed);
    MPI_Info_free(&info);
    return sealed;
}

/* Of one process of the world; the caller frees it. */
static inline MPI_Group check_group_of(int rank)
{
    MPI_Group world, one;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &rank, &one);
    MPI_Group_free(&world);
    return one;
}

/* Real work between posting and completing, so that only the progress thread can move the data. */
static inline void check_compute(int us)
{
    double x = 1.0;
    for (long i = 0; i < us * 300L; i++)
        x = x * 1.0000001 + 1e-9;
    check_sink = x;
}

static inline void check_fill(int *data, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++)
        data[i] = (int)(seed * 2654435761u + (unsigned)i * 40503u);
}

static inline bool check_is_filled(const int *data, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++)
        if (data[i] != (int)(seed * 2654435761u + (unsigned)i * 40503u))
            return false;
    return true;
}

static inline uint64_t check_digest(const void *data, size_t length)
{
    const unsigned char *at = data;
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ at[i]) * 0x100000001b3ull;
    return hash;
}

static inline void check_report(const char *name, uint64_t digest)
{
    printf("rank %d %s %016llx\n", check_rank, name, (unsigned long long)digest);
    fflush(stdout);
}

static inline int *check_ints(size_t count)
{
    int *data = malloc((count + 1) * sizeof *data);
    if (data == NULL)
        abort();
    memset(data, 0x5a, count * sizeof *data);
    return data;
}

#endif
