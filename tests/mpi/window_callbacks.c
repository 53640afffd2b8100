/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what the program's callbacks are told of a window is what it is told outside of MPI.
 * Callbacks: an error handler, and the delete function of an attribute, run by MPI_Win_free or, with the
 * argument "leak", by MPI_Finalize. */
#include "check.h"

enum { COUNT = 24, KIND_COUNT = 3 };

static struct made {
    const char *kind;
    MPI_Win win;
    int *memory;
} all[KIND_COUNT] = {{.kind = "allocate"}, {.kind = "create"}, {.kind = "dynamic"}};

static void get(MPI_Win win, int keyval, void *value)
{
    int flag = 0;
    MPI_Win_get_attr(win, keyval, value, &flag);
    CHECK(flag);
}

/* The members of the window, in their order, as ranks of the world. */
static uint64_t members_of(MPI_Win win)
{
    MPI_Group group, world;
    int size, rank, *ranks = check_ints((size_t)check_size), *wanted = check_ints((size_t)check_size);
    MPI_Win_get_group(win, &group);
    MPI_Group_size(group, &size);
    MPI_Group_rank(group, &rank);
    CHECK(size == check_size && rank == check_size - 1 - check_rank);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < size; i++)
        wanted[i] = i;
    MPI_Group_translate_ranks(group, size, wanted, world, ranks);
    uint64_t digest = check_digest(ranks, (size_t)size * sizeof *ranks);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    free(ranks);
    free(wanted);
    return digest;
}

static void look(const char *where, const struct made *made, MPI_Win win)
{
    char name[64];
    int *flavor, *unit;
    MPI_Aint *size;
    void *base;
    CHECK(win == made->win);
    get(win, MPI_WIN_CREATE_FLAVOR, &flavor);
    get(win, MPI_WIN_SIZE, &size);
    get(win, MPI_WIN_DISP_UNIT, &unit);
    get(win, MPI_WIN_BASE, &base);
    snprintf(name, sizeof name, "%s-%s-flavor-%d-size-%ld-unit-%d-base-%d", where, made->kind, *flavor,
             (long)*size, *unit, base == made->memory);
    check_report(name, members_of(win));
}

static struct made *find(MPI_Win win)
{
    int i = 0;
    while (i < KIND_COUNT && all[i].win != win)
        i++;
    CHECK(i < KIND_COUNT);
    return &all[i];
}

static void hear(MPI_Win *win, int *code, ...)
{
    int class;
    MPI_Error_class(*code, &class);
    CHECK(class == MPI_ERR_RMA_SYNC);
    look("handler", find(*win), *win);
}

static int deleted(MPI_Win win, int keyval, void *value, void *extra)
{
    (void)keyval, (void)extra;
    look("deleted", value, win);
    return MPI_SUCCESS;
}

static void make_all(MPI_Comm comm)
{
    MPI_Aint bytes = COUNT * sizeof(int);
    int unit = sizeof(int);
    MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, comm, &all[0].memory, &all[0].win);
    MPI_Alloc_mem(bytes, MPI_INFO_NULL, &all[1].memory);
    MPI_Win_create(all[1].memory, bytes, unit, MPI_INFO_NULL, comm, &all[1].win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &all[2].win);
}

int main(int argc, char **argv)
{
    int keyval;
    MPI_Comm backwards;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &backwards);
    make_all(backwards);
    MPI_Comm_free(&backwards);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, deleted, &keyval, NULL);
    MPI_Win_create_errhandler(hear, &handler);
    for (int i = 0; i < KIND_COUNT; i++) {
        MPI_Win_set_errhandler(all[i].win, handler);
        MPI_Win_set_attr(all[i].win, keyval, &all[i]);
        look("outside", &all[i], all[i].win);
        MPI_Win_call_errhandler(all[i].win, MPI_ERR_RMA_SYNC);
    }
    MPI_Errhandler_free(&handler);
    MPI_Win_free_keyval(&keyval);
    for (int i = 0; i < KIND_COUNT && argc < 2; i++)
        MPI_Win_free(&all[i].win);
    MPI_Finalize();
    return 0;
}
