/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: callbacks that run within MPI use windows as the program does outside: every kind of call, the
 * end of an epoch and of the window, and barriers that others enter outside. With -DSHIM a library between
 * Headway and the MPI, which passes calls on. */
#include "check.h"

#ifdef SHIM
int MPI_Accumulate(const void *origin, int count, MPI_Datatype datatype, int rank, MPI_Aint disp, int target,
                   MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    return PMPI_Accumulate(origin, count, datatype, rank, disp, target, target_datatype, op, win);
}
int MPI_Put(const void *origin, int count, MPI_Datatype datatype, int rank, MPI_Aint disp, int target,
            MPI_Datatype target_datatype, MPI_Win win)
{
    return PMPI_Put(origin, count, datatype, rank, disp, target, target_datatype, win);
}
int MPI_Win_flush(int rank, MPI_Win win) { return PMPI_Win_flush(rank, win); }
int MPI_Barrier(MPI_Comm comm) { return PMPI_Barrier(comm); }
int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *unit, void *base)
{
    return PMPI_Win_shared_query(win, rank, size, unit, base);
}
#else

enum { WORDS = 64, BARRIERS = 80 };

static MPI_Win win;
static long *memory, got[WORDS];
static int calls;

/* One more at rank 0; the caller's number, and one that fetches it, at the right neighbour. */
static void operate(void)
{
    long one = 1, seen, mine[WORDS], wanted = check_rank;
    for (int i = 0; i < WORDS; i++)
        mine[i] = 1000 * ++calls + check_rank;
    MPI_Win_lock_all(0, win);
    MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Fetch_and_op(&one, &seen, MPI_LONG, check_right, 1, MPI_SUM, win);
    MPI_Compare_and_swap(&one, &wanted, &seen, MPI_LONG, check_right, 2, win);
    MPI_Put(mine, WORDS, MPI_LONG, check_right, WORDS, WORDS, MPI_LONG, win);
    MPI_Win_flush(check_right, win);
    MPI_Get(got, WORDS, MPI_LONG, check_right, WORDS, WORDS, MPI_LONG, win);
    MPI_Win_flush_all(win);
    CHECK(memcmp(got, mine, sizeof mine) == 0);
    MPI_Win_unlock_all(win);
}

static int comm_deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    operate();
    return MPI_SUCCESS;
}

static int type_deleted(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)value, (void)extra;
    operate();
    return MPI_SUCCESS;
}

static void hear(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    operate();
}

static int query(void *extra, MPI_Status *status)
{
    (void)extra;
    operate();
    MPI_Status_set_elements(status, MPI_LONG, 1);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int nothing(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int cancelled(void *extra, int is_complete)
{
    (void)extra, (void)is_complete;
    return MPI_SUCCESS;
}

static void report(const char *name)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    check_report(name, check_digest(memory, 2 * WORDS * sizeof *memory));
    MPI_Win_unlock(check_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void of_communicators(void)
{
    int key;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_deleted, &key, NULL);
    MPI_Comm_set_attr(comm, key, NULL);
    MPI_Comm_delete_attr(comm, key);
    report("comm-delete-attr");
    MPI_Comm_set_attr(comm, key, NULL);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
    report("comm-free");
}

static void of_datatypes(void)
{
    int key;
    MPI_Datatype type;
    MPI_Type_dup(MPI_INT, &type);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, type_deleted, &key, NULL);
    MPI_Type_set_attr(type, key, NULL);
    MPI_Type_free(&type);
    MPI_Type_free_keyval(&key);
    report("type-free");
}

static void of_errors(void)
{
    char byte = 0;
    MPI_Errhandler handler;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(hear, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Send(&byte, 1, MPI_CHAR, check_size + 5, 0, comm);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
    report("handler");
}

static void of_requests(void)
{
    MPI_Request request;
    MPI_Grequest_start(query, nothing, cancelled, NULL, &request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    report("query");
}

/* Epochs of both kinds that all enter, and the end of the window, in one callback. */
static int ended(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)key, (void)extra;
    MPI_Win *own = value;
    int number = check_rank, size;
    MPI_Group all;
    MPI_Comm_size(comm, &size);
    CHECK(size == check_size);
    MPI_Win_fence(0, *own);
    MPI_Put(&number, 1, MPI_INT, check_right, 0, 1, MPI_INT, *own);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, *own);
    MPI_Win_get_group(*own, &all);
    MPI_Win_post(all, 0, *own);
    MPI_Win_start(all, 0, *own);
    for (int rank = 0; rank < size; rank++)
        MPI_Put(&number, 1, MPI_INT, rank, 1 + check_rank, 1, MPI_INT, *own);
    MPI_Win_complete(*own);
    MPI_Win_wait(*own);
    MPI_Group_free(&all);
    int *numbers = *(int **)extra;
    check_report("ended", check_digest(numbers, (size_t)(1 + size) * sizeof *numbers));
    CHECK(MPI_Win_free(own) == MPI_SUCCESS && *own == MPI_WIN_NULL);
    return MPI_SUCCESS;
}

static void of_its_end(void)
{
    static int *numbers;
    int key;
    MPI_Win own;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Win_allocate((1 + check_size) * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &numbers,
                     &own);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, ended, &key, &numbers);
    MPI_Comm_set_attr(comm, key, &own);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
}

/* Headway refuses what MPI does not allow, as outside of a callback. */
static int refused(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    MPI_Win *own = value;
    MPI_Win_lock_all(0, *own);
    CHECK(MPI_Win_free(own) != MPI_SUCCESS && *own != MPI_WIN_NULL);
    MPI_Win_unlock_all(*own);
    return MPI_SUCCESS;
}

static void of_a_refusal(void)
{
    long *unused;
    int key;
    MPI_Win own;
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &unused, &own);
    MPI_Win_set_errhandler(own, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refused, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &own);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
    MPI_Win_free(&own);
}

static int meets(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)key, (void)extra;
    MPI_Barrier(value ? comm : MPI_COMM_WORLD);
    return MPI_SUCCESS;
}

/* Rank 0 enters some from within MPI_Comm_free, and all enter the last one of each duplicate so. */
static void of_barriers(void)
{
    int key;
    MPI_Comm comm, self;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, meets, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < BARRIERS; i++) {
        MPI_Barrier(comm);
        if (check_rank > 0 || i % 4) {
            MPI_Barrier(MPI_COMM_WORLD);
            continue;
        }
        MPI_Comm_dup(MPI_COMM_SELF, &self);
        MPI_Comm_set_attr(self, key, NULL);
        MPI_Comm_free(&self);
    }
    MPI_Comm_set_attr(comm, key, &comm);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
    check_report("barriers", 0);
}

static int frees(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    return MPI_Comm_free(value);
}

/* All enter a barrier as a communicator is freed; rank 0 frees it from within freeing another one. */
static void of_nested_ends(void)
{
    enum { MOST_BEFORE = 17 };
    int meeting, freeing;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, meets, &meeting, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, frees, &freeing, NULL);
    for (int before = 0; before <= MOST_BEFORE; before++) {
        MPI_Comm comm, self;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int i = 0; i < before; i++)
            MPI_Barrier(comm);
        MPI_Comm_set_attr(comm, meeting, &comm);
        if (check_rank > 0) {
            MPI_Comm_free(&comm);
            continue;
        }
        MPI_Comm_dup(MPI_COMM_SELF, &self);
        MPI_Comm_set_attr(self, freeing, &comm);
        MPI_Comm_free(&self);
    }
    MPI_Comm_free_keyval(&meeting);
    MPI_Comm_free_keyval(&freeing);
    check_report("nested ends", 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Win_allocate(2 * WORDS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
    memset(memory, 0, 2 * WORDS * sizeof(long));
    memory[2] = check_left;
    MPI_Win_unlock(check_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    of_communicators();
    of_datatypes();
    of_errors();
    of_requests();
    of_its_end();
    if (argc > 1)
        of_a_refusal();
    of_barriers();
    of_nested_ends();
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
#endif
