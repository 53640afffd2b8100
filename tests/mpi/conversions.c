/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: conversions: a program that takes conversions of handles if there are any, by weak symbols, as
 * mpi4py does. An MPI may have them as macros alone, or not at all; the library has them all. */
#include "check.h"

#undef MPI_Comm_c2f
#undef MPI_Comm_f2c
#undef MPI_Type_c2f
#undef MPI_Type_f2c
#undef MPI_Op_c2f
#undef MPI_Op_f2c
#undef MPI_Request_c2f
#undef MPI_Request_f2c
#undef MPI_File_c2f
#undef MPI_File_f2c

#define DECLARE(kind, type)                                                                                  \
    MPI_Fint MPI_##kind##_c2f(type) __attribute__((weak));                                                   \
    type MPI_##kind##_f2c(MPI_Fint) __attribute__((weak));                                                   \
    int MPI_##kind##_toint(type) __attribute__((weak));                                                      \
    type MPI_##kind##_fromint(int) __attribute__((weak))

DECLARE(Comm, MPI_Comm);
DECLARE(Type, MPI_Datatype);
DECLARE(Op, MPI_Op);
DECLARE(Request, MPI_Request);
DECLARE(File, MPI_File);

#define ROUND_TRIPS(kind, handle)                                                                            \
    do {                                                                                                     \
        CHECK(!MPI_##kind##_c2f || MPI_##kind##_f2c(MPI_##kind##_c2f(handle)) == (handle));                  \
        CHECK(!MPI_##kind##_toint || MPI_##kind##_fromint(MPI_##kind##_toint(handle)) == (handle));          \
    } while (0)

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Comm comm;
    MPI_Request request;
    int data = 0;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Recv_init(&data, 1, MPI_INT, 0, 0, comm, &request);
    ROUND_TRIPS(Comm, MPI_COMM_WORLD);
    ROUND_TRIPS(Comm, comm);
    ROUND_TRIPS(Type, MPI_INT);
    ROUND_TRIPS(Op, MPI_SUM);
    ROUND_TRIPS(Request, request);
    ROUND_TRIPS(File, MPI_FILE_NULL);
    MPI_Request_free(&request);
    MPI_Comm_free(&comm);
    check_report("conversions", 1);
    MPI_Finalize();
    return 0;
}
