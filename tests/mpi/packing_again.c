/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a datatype that is never freed ends with MPI; in a session after that the MPI uses its handle
 * again, for another one, and packs that. */
#include "check.h"

enum { COUNT = 4096, CALLS = 12 };

static void pack(MPI_Comm comm, int stride)
{
    static int data[4 * COUNT], packed[COUNT];
    MPI_Datatype datatype;
    for (int i = 0; i < 4 * COUNT; i++)
        data[i] = i;
    MPI_Type_vector(COUNT, 1, stride, MPI_INT, &datatype);
    MPI_Type_commit(&datatype);
    for (int call = 0; call < CALLS; call++) {
        int position = 0, wrong = 0;
        MPI_Pack(data, 1, datatype, packed, sizeof packed, &position, comm);
        for (int i = 0; i < COUNT; i++)
            wrong += packed[i] != stride * i;
        printf("stride %d call %d wrong %d\n", stride, call, wrong);
    }
}

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    pack(MPI_COMM_SELF, 2);
    MPI_Finalize();
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Comm_create_from_group(group, "again", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    pack(comm, 3);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
}
