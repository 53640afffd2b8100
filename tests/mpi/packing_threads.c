/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: threads make, use and free datatypes at the same time, some alike, and all use one that is
 * shared, of which each frees references of its own. Prints a digest of what each packed. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 40, TIMES = 6, COUNT = 200, ROOM = COUNT * 3 * 8 };

static MPI_Datatype shared, of_shared;

struct own {
    int number;
    uint64_t digest;
};

static uint64_t pack_and_back(MPI_Datatype type, int count, int *memory, int *back, char *packed)
{
    uint64_t digest = 0;
    for (int i = 0; i < TIMES; i++) {
        int position = 0, end = 0;
        memset(back, 0, 4 * ROOM);
        CHECK(MPI_Pack(memory, count, type, packed, ROOM, &position, MPI_COMM_SELF) == MPI_SUCCESS);
        CHECK(MPI_Unpack(packed, position, &end, back, count, type, MPI_COMM_SELF) == MPI_SUCCESS);
        CHECK(end == position);
        digest = digest * 31 + check_digest(packed, (size_t)position) + check_digest(back, 4 * ROOM);
    }
    return digest;
}

/* The same handle, in most MPIs; the others' stays good. */
static void free_reference(void)
{
    int count;
    MPI_Aint unused;
    MPI_Datatype inner;
    MPI_Type_get_contents(of_shared, 1, 0, 1, &count, &unused, &inner);
    CHECK(count == 1);
    MPI_Type_free(&inner);
}

static void *run(void *context)
{
    struct own *own = context;
    int *memory = check_ints(ROOM), *back = check_ints(ROOM);
    char *packed = malloc(ROOM);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Datatype type;
        MPI_Type_vector(COUNT, 1 + i % 3, 4 + (i + own->number) % 2, MPI_INT, &type);
        MPI_Type_commit(&type);
        check_fill(memory, ROOM, (unsigned)(own->number * 100 + i));
        own->digest = own->digest * 31 + pack_and_back(type, 1 + i % 2, memory, back, packed);
        own->digest = own->digest * 31 + pack_and_back(shared, 1, memory, back, packed);
        free_reference();
        MPI_Type_free(&type);
    }
    free(memory);
    free(back);
    free(packed);
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    check_begin();
    CHECK(level == MPI_THREAD_MULTIPLE);
    MPI_Type_vector(COUNT, 2, 5, MPI_INT, &shared);
    MPI_Type_commit(&shared);
    MPI_Type_contiguous(1, shared, &of_shared);
    pthread_t threads[THREADS];
    struct own owns[THREADS];
    for (int i = 0; i < THREADS; i++) {
        owns[i] = (struct own){.number = i};
        pthread_create(&threads[i], NULL, run, &owns[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        check_report("thread", owns[i].digest);
    }
    MPI_Type_free(&of_shared);
    MPI_Type_free(&shared);
    MPI_Finalize();
    return 0;
}
