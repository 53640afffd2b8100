/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: null pointers where MPI wants requests, handles or room for an answer, while messages are
 * pending: errors of the program's, which its handler returns to it. */
#include "check.h"

static int classes;

static void refused(const char *name, int code)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    CHECK(class != MPI_SUCCESS);
    check_report(name, (uint64_t) class);
    classes++;
}

int main(int argc, char **argv)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int flag, index, indices[2];
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int peer = check_rank ^ 1;
    int *sent = check_ints(LARGE_INTS), *received = check_ints(LARGE_INTS);
    check_fill(sent, LARGE_INTS, (unsigned)check_rank);
    MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
    refused("Wait", MPI_Wait(NULL, MPI_STATUS_IGNORE));
    refused("Waitall", MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE));
    refused("Waitany", MPI_Waitany(2, requests, NULL, MPI_STATUS_IGNORE));
    refused("Waitsome", MPI_Waitsome(2, requests, NULL, indices, statuses));
    refused("Test", MPI_Test(NULL, &flag, MPI_STATUS_IGNORE));
    refused("Test-flag", MPI_Test(&requests[0], NULL, MPI_STATUS_IGNORE));
    refused("Testall", MPI_Testall(2, NULL, &flag, MPI_STATUSES_IGNORE));
    refused("Testall-flag", MPI_Testall(2, requests, NULL, MPI_STATUSES_IGNORE));
    refused("Testany", MPI_Testany(2, requests, NULL, &flag, MPI_STATUS_IGNORE));
    refused("Testany-flag", MPI_Testany(2, requests, &index, NULL, MPI_STATUS_IGNORE));
    refused("Testsome", MPI_Testsome(2, requests, NULL, indices, statuses));
    refused("Get_status", MPI_Request_get_status(requests[0], NULL, MPI_STATUS_IGNORE));
    refused("Cancel", MPI_Cancel(NULL));
    refused("Request_free", MPI_Request_free(NULL));
    check_compute(COMPUTE_US);
    CHECK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(check_is_filled(received, LARGE_INTS, (unsigned)peer));
    MPI_Finalize();
    free(sent);
    free(received);
    return 0;
}
