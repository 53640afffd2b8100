/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: windows whose info key epoch_type names the kinds of epochs used on them, alone and together,
 * over all processes and over a part in another order; members that give it and members that do not. With the
 * argument "wrong" each window gets the kinds of epochs it did not name, which ghosts refuse. Prints what the
 * standard determines. */
#include "check.h"

/* MPICH 4.0 mixes up windows of a size that is no multiple of eight bytes. */
enum { WINDOW_INTS = 16 };

static MPI_Comm comm;
static int rank, size, *base;
static MPI_Win win;

static void make(const char *types, bool is_told_by_all)
{
    MPI_Info info;
    MPI_Info_create(&info);
    if (is_told_by_all || rank == 0)
        MPI_Info_set(info, "epoch_type", types);
    MPI_Win_allocate(WINDOW_INTS * sizeof(int), sizeof(int), info, comm, &base, &win);
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    memset(base, 0, WINDOW_INTS * sizeof(int));
    MPI_Barrier(comm);
}

/* Everybody writes to everybody; the process's own part is read after a barrier. */
static void put_all(void)
{
    static int value;
    value = rank + 1;
    for (int i = 0; i < size; i++)
        CHECK(MPI_Put(&value, 1, MPI_INT, i, rank, 1, MPI_INT, win) == MPI_SUCCESS);
}

static int use_fence(void)
{
    int rc = MPI_Win_fence(0, win);
    if (rc != MPI_SUCCESS)
        return rc;
    put_all();
    return MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

static int use_pscw(void)
{
    MPI_Group group;
    MPI_Comm_group(comm, &group);
    int rc = MPI_Win_post(group, 0, win);
    if (rc == MPI_SUCCESS)
        rc = MPI_Win_start(group, 0, win);
    if (rc == MPI_SUCCESS) {
        put_all();
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    }
    MPI_Group_free(&group);
    return rc;
}

static int use_lock(void)
{
    int value = rank + 1, rc = MPI_SUCCESS;
    for (int i = 0; i < size && rc == MPI_SUCCESS; i++) {
        rc = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, i, 0, win);
        if (rc != MPI_SUCCESS)
            break;
        MPI_Put(&value, 1, MPI_INT, i, rank, 1, MPI_INT, win);
        rc = MPI_Win_unlock(i, win);
    }
    return rc;
}

static int use_lock_all(void)
{
    int rc = MPI_Win_lock_all(0, win);
    if (rc != MPI_SUCCESS)
        return rc;
    put_all();
    return MPI_Win_unlock_all(win);
}

enum { FENCE, PSCW, LOCK, LOCK_ALL, KINDS };
static int (*const uses[KINDS])(void) = {use_fence, use_pscw, use_lock, use_lock_all};
static const char *const words[KINDS] = {"fence", "pscw", "lock", "lockall"};

static void end(const char *where, const char *what)
{
    MPI_Barrier(comm);
    int sum = 0;
    for (int i = 0; i < size; i++)
        sum += base[i] * (i + 3);
    MPI_Win_free(&win);
    printf("rank %d %s %s %d\n", check_rank, where, what, sum);
    fflush(stdout);
}

static void try_kinds(const char *where)
{
    for (int kind = 0; kind < KINDS; kind++) {
        make(words[kind], true);
        CHECK(uses[kind]() == MPI_SUCCESS);
        end(where, words[kind]);
    }
    make("fence,lock", true);
    CHECK(use_lock() == MPI_SUCCESS);
    MPI_Barrier(comm);
    CHECK(use_fence() == MPI_SUCCESS);
    end(where, "fence and lock");
    /* Only some of the members say so: all kinds may come. */
    make("lockall", false);
    CHECK(use_lock_all() == MPI_SUCCESS);
    MPI_Barrier(comm);
    CHECK(use_fence() == MPI_SUCCESS);
    end(where, "told by one");
    make("lock | nonsense", true);
    CHECK(use_fence() == MPI_SUCCESS);
    end(where, "another word");
}

/* Those that were not named are errors of the window's, at once and at every member, and the others go on. */
static void try_wrong(void)
{
    for (int named = 0; named < KINDS; named++) {
        make(words[named], true);
        for (int kind = 0; kind < KINDS; kind++) {
            int class = MPI_SUCCESS, rc = uses[kind]();
            MPI_Error_class(rc, &class);
            CHECK(class == (kind == named ? MPI_SUCCESS : MPI_ERR_RMA_SYNC));
            MPI_Barrier(comm);
        }
        end("wrong", words[named]);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    bool is_wrong = argc > 1 && strcmp(argv[1], "wrong") == 0;
    for (int i = 0; i < 2; i++) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, i ? -check_rank : check_rank, &comm);
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        if (is_wrong)
            try_wrong();
        else
            try_kinds(i ? "reversed" : "world");
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return 0;
}
