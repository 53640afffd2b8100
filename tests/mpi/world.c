/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what a program sees of its world through everything that takes MPI_COMM_WORLD: the same
 * whether some processes were set aside or not. */
#include "check.h"

static int tag_ub, fatal_count;

static int size_of(MPI_Comm comm)
{
    int size;
    MPI_Comm_size(comm, &size);
    return size;
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    CHECK(*comm == MPI_COMM_WORLD && size_of(*comm) == check_size);
    fatal_count++;
}

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    int sum = 0, one = 1;
    /* In MPI_Finalize, while the program's world must still be there. */
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check_report("at-end", (uint64_t)sum);
    return MPI_SUCCESS;
}

/* An MPI may leave those of its world as they are; if not, the program's world must still be there. */
static int on_world_end(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)keyval, (void)value, (void)extra;
    int sum = 0, one = 1, rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(comm == MPI_COMM_WORLD && rank == check_rank && sum == check_size);
    return MPI_SUCCESS;
}

static int told_of_world;

static int on_copied(MPI_Comm comm, int keyval, void *extra, void *value, void *copy, int *flag)
{
    (void)keyval;
    CHECK(comm == MPI_COMM_WORLD && extra == &told_of_world);
    told_of_world++;
    *flag = 1;
    memcpy(copy, &value, sizeof value);
    return MPI_SUCCESS;
}

static int on_deleted(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)keyval, (void)value;
    CHECK(extra == &told_of_world);
    told_of_world += comm == MPI_COMM_WORLD ? 10 : 100;
    return MPI_SUCCESS;
}

/* Libraries keep their own communicator in an attribute of the program's, and the program's in theirs. */
static void try_callbacks(void)
{
    int keyval;
    MPI_Comm copy;
    MPI_Comm_create_keyval(on_copied, on_deleted, &keyval, &told_of_world);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_free(&copy);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &keyval);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
    MPI_Comm_free_keyval(&keyval);
    check_report("told", (uint64_t)told_of_world);
}

static uint64_t predefined_of(MPI_Comm comm)
{
    const int keyvals[] = {MPI_TAG_UB,        MPI_HOST,   MPI_IO,          MPI_WTIME_IS_GLOBAL,
                           MPI_UNIVERSE_SIZE, MPI_APPNUM, MPI_LASTUSEDCODE};
    uint64_t found = 0;
    for (size_t i = 0; i < sizeof keyvals / sizeof keyvals[0]; i++) {
        int flag, of_world, *value, *wanted;
        MPI_Comm_get_attr(comm, keyvals[i], &value, &flag);
        MPI_Comm_get_attr(MPI_COMM_WORLD, keyvals[i], &wanted, &of_world);
        CHECK(!flag || (of_world && *value == *wanted));
        found |= (uint64_t)(flag != 0) << i;
    }
    return found;
}

/* Who inherits what the MPI attached to the world differs between MPIs. */
static void try_predefined(void)
{
    MPI_Comm once, twice, alike;
    MPI_Comm_dup(MPI_COMM_WORLD, &once);
    MPI_Comm_dup(once, &twice);
    MPI_Comm_split(MPI_COMM_WORLD, 0, check_rank, &alike);
    check_report("predefined", predefined_of(MPI_COMM_WORLD));
    check_report("predefined-dup", predefined_of(once));
    MPI_Comm_free(&once);
    check_report("predefined-dup-dup", predefined_of(twice));
    check_report("predefined-alike", predefined_of(alike));
    check_report("predefined-self", predefined_of(MPI_COMM_SELF));
    MPI_Comm_free(&twice);
    MPI_Comm_free(&alike);
}

static void try_attributes(void)
{
    int flag, keyval, value = 7, *found;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &found, &flag);
    CHECK(flag && *found >= 32767);
    tag_ub = *found;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &found, &flag);
    CHECK(flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &found, &flag);
    CHECK(!flag || *found > 0);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &value);
    MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &found, &flag);
    CHECK(flag && found == &value);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
    MPI_Comm_free_keyval(&keyval);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &value);
    MPI_Comm_free_keyval(&keyval);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_world_end, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &value);
    MPI_Comm_free_keyval(&keyval);
}

static void try_names_and_errors(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length, result;
    MPI_Errhandler handler, found;
    MPI_Comm parent;
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0);
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_IDENT);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Send(NULL, 0, MPI_INT, check_size, 0, MPI_COMM_WORLD); /* one rank too far */
    MPI_Send(NULL, 0, MPI_INT, 0, tag_ub == INT32_MAX ? -5 : tag_ub + 1, MPI_COMM_WORLD);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    CHECK(fatal_count == 3);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found);
    CHECK(found == handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&found);
    MPI_Errhandler_free(&handler);
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
}

/* Not every MPI tells. */
static void try_environment(void)
{
    char value[16] = "";
    int flag = 0;
    MPI_Info_get(MPI_INFO_ENV, "maxprocs", sizeof value - 1, value, &flag);
    CHECK(!flag || atoi(value) == check_size);
}

static void report_comm(const char *name, MPI_Comm comm)
{
    int sum = 0, rank, weighed;
    MPI_Comm_rank(comm, &rank);
    weighed = (rank + 1) * 100 + size_of(comm);
    MPI_Allreduce(&weighed, &sum, 1, MPI_INT, MPI_SUM, comm);
    check_report(name, (uint64_t)sum);
    MPI_Comm_free(&comm);
}

static void try_communicators(void)
{
    MPI_Comm comm, half;
    MPI_Group world, some;
    MPI_Request request;
    int dims[2] = {0, 0}, periods[2] = {1, 0}, index[1], ranges[1][3] = {{0, check_size - 1, 1}};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    report_comm("dup", comm);
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    report_comm("idup", comm);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &half);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    report_comm("split_type", comm);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(world, index);
    CHECK(index[0] == check_size);
    MPI_Group_range_incl(world, 1, ranges, &some);
    MPI_Comm_create(MPI_COMM_WORLD, some, &comm);
    report_comm("create", comm);
    MPI_Comm_create_group(MPI_COMM_WORLD, some, 3, &comm);
    report_comm("create_group", comm);
    MPI_Group_free(&some);
    MPI_Group_free(&world);
    MPI_Dims_create(check_size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
    report_comm("cart", comm);
    if (check_size > 1) {
        /* Within each half the ranks run backwards: its leader is its last process. */
        int last_even = (check_size - 1) / 2 * 2, last_odd = (check_size - 2) / 2 * 2 + 1;
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, check_rank % 2 ? last_even : last_odd, 9, &comm);
        int remote;
        MPI_Comm_remote_size(comm, &remote);
        CHECK(remote == check_size - size_of(half));
        MPI_Comm_free(&comm);
    }
    report_comm("half", half);
}

static void try_transfers(const char *file_name)
{
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size, got = -1,
        sum;
    int *all = check_ints((size_t)check_size);
    MPI_Status status;
    MPI_Sendrecv(&check_rank, 1, MPI_INT, right, 1, &got, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                 &status);
    CHECK(got == left && status.MPI_SOURCE == left);
    MPI_Allgather(&check_rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    check_report("allgather", check_digest(all, (size_t)check_size * sizeof *all));
    MPI_Scan(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check_report("scan", (uint64_t)sum);
    free(all);
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, file_name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_write_ordered(file, &check_rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Offset size;
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(file, &size);
    CHECK(size == (MPI_Offset)(sizeof(int) * (size_t)check_size));
    MPI_File_close(&file);
    void *memory = NULL;
    MPI_Win win;
    MPI_Win_create(&got, sizeof got, sizeof got, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&check_rank, 1, MPI_INT, right, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(got == left);
    MPI_Win_free(&win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_free(&win);
    MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &win);
    MPI_Win_free(&win);
    MPI_Alloc_mem(64, MPI_INFO_NULL, &memory);
    MPI_Free_mem(memory);
}

#if MPI_VERSION >= 4
static void try_sessions(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Info info;
    int size, flag = 0;
    char value[16] = "";
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_size(group, &size);
    CHECK(size == check_size);
    MPI_Group_free(&group);
    MPI_Session_get_pset_info(session, "mpi://WORLD", &info);
    MPI_Info_get(info, "mpi_size", sizeof value - 1, value, &flag);
    CHECK(flag && atoi(value) == check_size);
    MPI_Info_free(&info);
    MPI_Session_finalize(&session);
}
#endif

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    try_attributes();
    try_callbacks();
    try_predefined();
    try_names_and_errors();
    try_environment();
    try_communicators();
    try_transfers(argv[1]);
#if MPI_VERSION >= 4
    try_sessions();
#endif
    MPI_Finalize();
    return 0;
}
