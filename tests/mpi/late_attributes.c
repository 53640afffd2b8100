/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: datatypes and communicators with attributes are freed while messages and nonblocking
 * collectives use them; their delete functions take a lock that the program holds while it calls MPI
 * functions that make no progress, as Python's interpreter lock is held; they run in the thread that calls
 * MPI. */
#include "check.h"

#include <pthread.h>

enum { ROUNDS = 9, CALLS = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t program;
static int deleted;

static int note(void)
{
    CHECK(pthread_equal(pthread_self(), program));
    pthread_mutex_lock(&lock);
    deleted++;
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)type, (void)keyval, (void)value, (void)extra;
    return note();
}

static int delete_comm(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    return note();
}

/* As long as the messages take, under the lock. */
static void compute_and_ask(void)
{
    for (int call = 0, rank; call < CALLS; call++) {
        pthread_mutex_lock(&lock);
        check_compute(100);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        pthread_mutex_unlock(&lock);
        CHECK(rank == check_rank);
    }
}

enum use { BY_MESSAGES, BY_COLLECTIVE };

/* One exchange with what is freed at once, and one beside it. */
static uint64_t exchange(int round, enum use use, MPI_Datatype *type, int count, MPI_Comm *comm)
{
    int peer = check_rank ^ 1;
    int *sent = check_ints(LARGE_INTS), *received = check_ints(LARGE_INTS), *beside = check_ints(LARGE_INTS);
    MPI_Request requests[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    check_fill(sent, LARGE_INTS, (unsigned)(round * 10 + check_rank));
    if (use == BY_COLLECTIVE) {
        MPI_Ibcast(check_rank == 0 ? sent : received, count, *type, 0, *comm, &requests[0]);
    } else {
        MPI_Irecv(received, count, *type, peer, 0, *comm, &requests[0]);
        MPI_Isend(sent, count, *type, peer, 0, *comm, &requests[1]);
    }
    MPI_Irecv(beside, LARGE_INTS, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[3]);
    if (*type == MPI_INT)
        MPI_Comm_free(comm);
    else
        MPI_Type_free(type);
    compute_and_ask();
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    CHECK(check_is_filled(beside, LARGE_INTS, (unsigned)(round * 10 + peer)));
    uint64_t digest = check_digest(received, LARGE_INTS * sizeof(int));
    free(sent);
    free(received);
    free(beside);
    return digest;
}

int main(int argc, char **argv)
{
    int type_key, comm_key;
    uint64_t digest = 0;
    MPI_Init(&argc, &argv);
    check_begin();
    program = pthread_self();
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_type, &type_key, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_comm, &comm_key, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Datatype type = MPI_INT;
        MPI_Comm comm = MPI_COMM_WORLD;
        if (round % 3 == 1) {
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            MPI_Comm_set_attr(comm, comm_key, &deleted);
            digest ^= exchange(round, BY_MESSAGES, &type, LARGE_INTS, &comm);
        } else {
            MPI_Type_vector(LARGE_INTS / 2, 1, 2, MPI_INT, &type);
            MPI_Type_commit(&type);
            MPI_Type_set_attr(type, type_key, &deleted);
            digest ^= exchange(round, round % 3 ? BY_COLLECTIVE : BY_MESSAGES, &type, 1, &comm);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    check_report("late-attributes", digest);
    check_report("deleted", (uint64_t)deleted);
    /* The thread is back, though a datatype without attributes lives on in another. */
    MPI_Datatype type = MPI_INT, inner, outer;
    MPI_Comm comm;
    MPI_Type_contiguous(2, MPI_INT, &inner);
    MPI_Type_contiguous(2, inner, &outer);
    MPI_Type_free(&inner);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    check_report("again", exchange(ROUNDS, BY_MESSAGES, &type, LARGE_INTS, &comm));
    MPI_Type_free(&outer);
    MPI_Finalize();
    return 0;
}
