/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: ranks of the lower half send to those of the upper half on a sealed communicator.
 *
 *   any, some, test  a message of MPI_COMM_WORLD that the MPI moves comes first, and its receiver takes the
 * sealed one only after it: while the sender waits for the sealed one alone, it has to make progress for the
 * other cancel           sealed messages are cancelled while their receiver matches them by MPI_Mprobe */
#include "check.h"

enum { DOUBLES = 1 << 17, BYTES = 1 << 20, ROUNDS = 50, TAG = 7, SECOND_TAG = 5 };

static double sparse[2 * DOUBLES];
static char bytes[2][BYTES];

static void wait_one_way(const char *how, MPI_Request *request)
{
    int index, flag = 0;
    if (strcmp(how, "any") == 0)
        MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
    if (strcmp(how, "some") == 0)
        MPI_Waitsome(1, request, &flag, &index, MPI_STATUSES_IGNORE);
    while (strcmp(how, "test") == 0 && !flag)
        MPI_Test(request, &flag, MPI_STATUS_IGNORE);
}

static void behind_another(const char *how, MPI_Comm sealed, int peer, int is_sender)
{
    MPI_Datatype gaps;
    MPI_Request other, request;
    MPI_Type_vector(DOUBLES, 1, 2, MPI_DOUBLE, &gaps);
    MPI_Type_commit(&gaps);
    for (int round = 0; round < 3; round++) {
        if (is_sender) {
            sparse[0] = bytes[0][0] = (char)(round + 1);
            MPI_Isend(sparse, 1, gaps, peer, TAG, MPI_COMM_WORLD, &other);
            MPI_Isend(bytes[0], BYTES, MPI_BYTE, peer, TAG, sealed, &request);
            wait_one_way(how, &request);
            MPI_Wait(&other, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(sparse, 1, gaps, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(bytes[1], BYTES, MPI_BYTE, peer, TAG, sealed, MPI_STATUS_IGNORE);
            CHECK(sparse[0] == round + 1 && bytes[1][0] == round + 1);
        }
    }
    MPI_Type_free(&gaps);
}

/* The length tells a message that was cancelled from the one after it. */
static void take(MPI_Comm sealed, int peer, int *lengths)
{
    MPI_Message message;
    MPI_Status probed, received;
    int told, length;
    MPI_Mprobe(peer, SECOND_TAG, sealed, &message, &probed);
    MPI_Get_count(&probed, MPI_BYTE, &told);
    MPI_Mrecv(bytes[1], told, MPI_BYTE, &message, &received);
    MPI_Get_count(&received, MPI_BYTE, &length);
    CHECK(told == length && bytes[1][0] == (length == BYTES ? 1 : 2));
    *lengths += length;
}

static void withdrawn(MPI_Comm sealed, int peer, int is_sender)
{
    for (int round = 0; round < ROUNDS; round++) {
        int is_cancelled = 0, lengths = 0;
        if (is_sender) {
            MPI_Request request;
            MPI_Status status;
            bytes[0][0] = 1;
            MPI_Isend(bytes[0], BYTES, MPI_BYTE, peer, SECOND_TAG, sealed, &request);
            MPI_Cancel(&request);
            MPI_Wait(&request, &status);
            MPI_Test_cancelled(&status, &is_cancelled);
            bytes[1][0] = 2;
            MPI_Send(bytes[1], BYTES / 2, MPI_BYTE, peer, SECOND_TAG, sealed);
            MPI_Send(&is_cancelled, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD);
        } else {
            MPI_Request told;
            MPI_Irecv(&is_cancelled, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD, &told);
            take(sealed, peer, &lengths);
            if (lengths == BYTES)
                take(sealed, peer, &lengths);
            MPI_Wait(&told, MPI_STATUS_IGNORE);
            CHECK(lengths == (is_cancelled ? BYTES / 2 : BYTES + BYTES / 2));
        }
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "any";
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Comm sealed = check_seal(MPI_COMM_WORLD);
    int half = check_size / 2, is_sender = check_rank < half;
    int peer = is_sender ? check_rank + half : check_rank - half;
    if (strcmp(how, "cancel") == 0)
        withdrawn(sealed, peer, is_sender);
    else
        behind_another(how, sealed, peer, is_sender);
    MPI_Comm_free(&sealed);
    check_report(how, 0);
    MPI_Finalize();
    return 0;
}
