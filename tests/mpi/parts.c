/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: communicators made of the program's world in ways that world.c does not try: graphs, all kinds
 * of MPI_Comm_split_type, groups and process sets without a parent, processes that are started. */
#include "check.h"

/* Open MPI 5 has sessions, and says that it is of MPI 3.1. */
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define HAS_SESSIONS
#endif

static void report_size(const char *name, MPI_Comm comm)
{
    int size = 0, rank = 0;
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_size(comm, &size);
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_free(&comm);
    }
    check_report(name, (uint64_t)(100 * size + rank));
}

static void report_neighbours(const char *name, MPI_Comm comm)
{
    int found[2] = {-1, -1}, rank;
    MPI_Comm_rank(comm, &rank);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, found, 1, MPI_INT, comm);
    check_report(name, check_digest(found, sizeof found));
    report_size(name, comm);
}

static void try_graphs(void)
{
    int one = 1, *index = check_ints((size_t)check_size), *edges = check_ints(2 * (size_t)check_size);
    MPI_Comm comm;
    for (int i = 0; i < check_size; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + 1) % check_size;
        edges[2 * i + 1] = (i + check_size - 1) % check_size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, check_size, index, edges, 0, &comm);
    report_neighbours("graph", comm);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &check_left, MPI_UNWEIGHTED, 1, &check_right,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    report_neighbours("adjacent", comm);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &check_rank, &one, &check_right, MPI_UNWEIGHTED, MPI_INFO_NULL,
                          0, &comm);
    report_neighbours("distributed", comm);
    free(index);
    free(edges);
}

static void split(const char *name, int type, const char *key, const char *value)
{
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Info info = MPI_INFO_NULL;
    if (key) {
        MPI_Info_create(&info);
        MPI_Info_set(info, key, value);
    }
    if (MPI_Comm_split_type(MPI_COMM_WORLD, type, -check_rank, info, &comm) == MPI_SUCCESS)
        report_size(name, comm);
    if (key)
        MPI_Info_free(&info);
}

static void try_types(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    split("shared", MPI_COMM_TYPE_SHARED, NULL, NULL);
    split("undefined", MPI_UNDEFINED, NULL, NULL);
#ifdef HAS_SESSIONS
    const char resource[] = "mpi_hw_resource_type";
    split("unguided", MPI_COMM_TYPE_HW_UNGUIDED, NULL, NULL);
    split("memory", MPI_COMM_TYPE_HW_GUIDED, resource, "mpi_shared_memory");
    split("package", MPI_COMM_TYPE_HW_GUIDED, resource, "package");
    split("core", MPI_COMM_TYPE_HW_GUIDED, resource, "core");
    split("nonsense", MPI_COMM_TYPE_HW_GUIDED, resource, "nonsense");
#endif
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

#ifdef HAS_SESSIONS
/* A window over it has the program's processes alone. */
static void try_group(const char *name, MPI_Group group)
{
    int *base, one = 1;
    MPI_Comm comm;
    MPI_Win win;
    MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Win_allocate(1024, sizeof *base, MPI_INFO_NULL, comm, &base, &win);
    *base = 0;
    MPI_Win_fence(0, win);
    MPI_Accumulate(&one, 1, MPI_INT, check_right, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    CHECK(*base == 1);
    MPI_Win_free(&win);
    report_size(name, comm);
}

static void try_sets(void)
{
    int count;
    MPI_Group group;
    MPI_Session session;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    try_group("of-group", group);
    MPI_Group_free(&group);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
    for (int i = 0; i < count; i++) {
        char name[MPI_MAX_PSET_NAME_LEN];
        int length = sizeof name, size;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
        MPI_Group_from_session_pset(session, name, &group);
        MPI_Group_size(group, &size);
        CHECK(size <= check_size);
        if (strcmp(name, "mpi://WORLD") == 0)
            try_group("of-set", group);
        MPI_Group_free(&group);
    }
    MPI_Session_finalize(&session);
}
#endif

/* Both sides: how many the others are. */
static void meet(const char *name, MPI_Comm others, int is_late)
{
    int remote;
    MPI_Comm all;
    MPI_Comm_remote_size(others, &remote);
    check_report(name, (uint64_t)remote);
    MPI_Intercomm_merge(others, is_late, &all);
    report_size(name, all);
    MPI_Comm_disconnect(&others);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, children;
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        meet("child", parent, 1);
    } else {
        try_graphs();
        try_types();
#ifdef HAS_SESSIONS
        try_sets();
#endif
    }
    if (parent == MPI_COMM_NULL && argc > 1) {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                       MPI_ERRCODES_IGNORE);
        meet("parent", children, 0);
    }
    MPI_Finalize();
    return 0;
}
