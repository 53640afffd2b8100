/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a process sends itself many messages of a datatype with gaps, whose requests it frees before
 * any of them is received: the last ones are posted about as fast as the first. */
#include "check.h"

enum { MESSAGES = 16000, PARTS = 8, PART = MESSAGES / PARTS, ROWS = 256 };

/* A quadratic cost shows in the last part as some seconds. */
enum { TIMES = 10 };
#define SLACK_S 0.2

/* Each message begins one further. */
static int sent[MESSAGES + 2 * ROWS], received[ROWS][2];

static double post_part(MPI_Datatype column, int part)
{
    double began = MPI_Wtime();
    for (int i = 0; i < PART; i++) {
        MPI_Request request;
        MPI_Issend(sent + part * PART + i, 1, column, 0, 1, MPI_COMM_SELF, &request);
        MPI_Request_free(&request);
    }
    return MPI_Wtime() - began;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Datatype column;
    double took[PARTS];
    MPI_Type_vector(ROWS, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < MESSAGES + 2 * ROWS; i++)
        sent[i] = i;
    for (int part = 0; part < PARTS; part++)
        took[part] = post_part(column, part);
    CHECK(took[PARTS - 1] < TIMES * took[0] + SLACK_S);
    uint64_t sum = 0;
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Recv(received, 1, column, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        CHECK(received[0][0] == i && received[ROWS - 1][0] == i + 2 * (ROWS - 1));
        sum = sum * 31 + (uint64_t)received[0][0];
    }
    check_report("freed-sends", sum);
    MPI_Type_free(&column);
    MPI_Finalize();
    return 0;
}
