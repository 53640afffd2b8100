/* Description: the program run over the fake MPI: prints every code it gets; no launcher, one process. */
#include <mpi.h>
#include <stdio.h>

static char sent[1 << 20], received[1 << 20];
static volatile double sink;

static void compute(int us)
{
    double x = 1.0;
    for (long i = 0; i < us * 300L; i++)
        x = x * 1.0000001 + 1e-9;
    sink = x;
}

int main(int argc, char **argv)
{
    int provided = -1, queried = -1;
    printf("init %d\n", MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
    MPI_Query_thread(&queried);
    printf("level %s\n", provided == queried ? "agrees" : "differs");
    for (int i = 0; i < 5; i++) {
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
    printf("finalize %d\n", MPI_Finalize());
    return 0;
}
