/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the program run over the fake MPI: prints every code it gets; no launcher, one process. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static char sent[1 << 20], received[1 << 20];
static volatile double sink;

static void compute(int us)
{
    double x = 1.0;
    for (long i = 0; i < us * 300L; i++)
        x = x * 1.0000001 + 1e-9;
    sink = x;
}

static void exchange(void)
{
    MPI_Request send = MPI_REQUEST_NULL, receive = MPI_REQUEST_NULL;
    MPI_Status status;
    printf("irecv %d\n", MPI_Irecv(received, sizeof received, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &receive));
    int code = MPI_Isend(sent, sizeof sent, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &send);
    printf("isend %d\n", code);
    for (int call = 0, rank; call < 1000; call++) { /* some of them while the thread has its turn */
        compute(20);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    }
    printf("wait %d\n", MPI_Wait(&receive, &status));
    int flag = 0;
    while (code == MPI_SUCCESS && !flag)
        MPI_Test(&send, &flag, &status);
    printf("null %d\n", receive == MPI_REQUEST_NULL && send == MPI_REQUEST_NULL);
}

static void operate(void)
{
    MPI_Win win = MPI_WIN_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_Win_create(received, sizeof received, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    printf("create %d %d\n", code, win == MPI_WIN_NULL);
    if (code != MPI_SUCCESS)
        return;
    printf("lock %d\n", MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    code = MPI_Rput(sent, sizeof sent, MPI_BYTE, 0, 0, sizeof sent, MPI_BYTE, win, &request);
    printf("rput %d\n", code);
    compute(20000);
    if (code == MPI_SUCCESS)
        printf("wait %d %d\n", MPI_Wait(&request, MPI_STATUS_IGNORE), request == MPI_REQUEST_NULL);
    printf("put %d\n", MPI_Put(sent, sizeof sent, MPI_BYTE, 0, 0, sizeof sent, MPI_BYTE, win));
    printf("flush %d\n", MPI_Win_flush(0, win));
    printf("unlock %d\n", MPI_Win_unlock(0, win));
    printf("free %d %d\n", MPI_Win_free(&win), win == MPI_WIN_NULL);
}

/* With the argument "windows" one-sided, else messages to itself. */
int main(int argc, char **argv)
{
    int provided = -1, queried = -1;
    printf("init %d\n", MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
    MPI_Query_thread(&queried);
    printf("level %s\n", provided == queried ? "agrees" : "differs");
    for (int i = 0; i < 5; i++) {
        if (argc > 1 && strcmp(argv[1], "windows") == 0)
            operate();
        else
            exchange();
    }
    printf("finalize %d\n", MPI_Finalize());
    return 0;
}
