/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what is wrong with a call of MPI_Pack or MPI_Unpack is the MPI's to say, at the handler of the
 * communicator, and nothing is written; a datatype lives as long as its handle, which the MPI uses again.
 * Each case comes after the datatype was packed well a few times. */
#include "check.h"

enum { COUNT = 400, ROOM = COUNT * 28, TIMES = 5 };

struct particle {
    double a;
    int b;
    double c[2];
};

static int raised;

static void note(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    raised++;
}

static MPI_Datatype particle_type(void)
{
    static const int lengths[] = {1, 1, 2};
    static const MPI_Aint places[] = {0, 8, 16};
    MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_DOUBLE}, made;
    MPI_Type_create_struct(3, lengths, places, types, &made);
    return made;
}

static struct particle particles[COUNT + 1];
static char packed[ROOM + 64];
static MPI_Comm comm;

static void pack_well(MPI_Datatype type)
{
    for (int i = 0; i < TIMES; i++) {
        int position = 0;
        check_fill((int *)particles, sizeof particles / sizeof(int), (unsigned)i);
        CHECK(MPI_Pack(particles, COUNT, type, packed, ROOM, &position, comm) == MPI_SUCCESS);
    }
}

/* One wrong call: its error class, how often the handler was called, and what is in the buffer. */
static void report(const char *name, int rc, int position)
{
    int class = -1;
    MPI_Error_class(rc, &class);
    uint64_t digest = check_digest(packed, sizeof packed) ^ check_digest(particles, sizeof particles);
    check_report(name, digest + (uint64_t) class * 1000003 + (uint64_t)raised * 10007 + (uint64_t)position);
    raised = 0;
}

static void err_wrongly(MPI_Datatype type)
{
    int position = 0;
    MPI_Datatype loose;
    MPI_Type_vector(COUNT, 1, 4, MPI_DOUBLE, &loose);
    memset(packed, 1, sizeof packed);
    report("negative", MPI_Pack(particles, -1, type, packed, ROOM, &position, comm), position);
    report("small", MPI_Pack(particles, COUNT, type, packed, ROOM - 1, &position, comm), position);
    report("not-committed", MPI_Pack(particles, 1, loose, packed, ROOM, &position, comm), position);
    report("null-type", MPI_Pack(particles, 1, MPI_DATATYPE_NULL, packed, ROOM, &position, comm), position);
    position = 0;
    report("unpack-small", MPI_Unpack(packed, ROOM - 1, &position, particles, COUNT, type, comm), position);
    position = 0;
    report("unpack-negative", MPI_Unpack(packed, ROOM, &position, particles, -1, type, comm), position);
    MPI_Type_free(&loose);
}

/* A handle that comes back means something else. */
static void use_handles_again(void)
{
    uint64_t digest = 0;
    for (int i = 1; i <= 20; i++) {
        MPI_Datatype type;
        MPI_Type_vector(128, i % 3 + 1, 5 + i % 4, MPI_INT, &type);
        MPI_Type_commit(&type);
        for (int j = 0; j < TIMES; j++) {
            int position = 0;
            CHECK(MPI_Pack(particles, 3, type, packed, ROOM, &position, comm) == MPI_SUCCESS);
            digest = digest * 31 + check_digest(packed, (size_t)position);
        }
        MPI_Type_free(&type);
    }
    check_report("again", digest);
}

/* Absolute addresses, from MPI_BOTTOM, which MPICH takes for a null pointer. */
static void use_addresses(void)
{
    static double here[300];
    double *there = calloc(300, sizeof *there);
    static const int lengths[] = {300, 200};
    MPI_Aint places[2];
    MPI_Datatype type;
    uint64_t digest = 0;
    MPI_Get_address(here, &places[0]);
    MPI_Get_address(there, &places[1]);
    MPI_Type_create_hindexed(2, lengths, places, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < TIMES; i++) {
        int position = 0;
        check_fill((int *)here, 600, (unsigned)i);
        check_fill((int *)there, 600, (unsigned)i + 100);
        int rc = MPI_Pack(MPI_BOTTOM, 1, type, packed, ROOM, &position, comm);
        digest = digest * 31 + check_digest(packed, (size_t)position) + (rc == MPI_SUCCESS);
        position = 0;
        memset(here, 0, sizeof here);
        rc = MPI_Unpack(packed, ROOM, &position, MPI_BOTTOM, 1, type, comm);
        digest = digest * 31 + check_digest(here, sizeof here) + (rc == MPI_SUCCESS);
    }
    MPI_Type_free(&type);
    free(there);
    check_report("addresses", digest);
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Datatype type = particle_type();
    MPI_Type_commit(&type);
    pack_well(type);
    err_wrongly(type);
    pack_well(type);
    check_report("well", check_digest(packed, sizeof packed));
    use_handles_again();
    use_addresses();
    MPI_Type_free(&type);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
