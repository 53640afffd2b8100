/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: ends HOW [MS]: both ranks exchange for MS milliseconds, and then the process ends by another
 * way than MPI_Finalize.
 *
 *   abort     rank 0 calls MPI_Abort with code 7, rank 1 waits for it in a barrier
 *   nested    the same from an error handler, inside MPI
 *   exit      exit(3); within an allocation, in a handler of the program's own for SIGTERM: handler
 *   quick     _exit(4)
 *   fault     rank 0 reads what is not there
 *   abort3    rank 0 calls abort(3)
 *   terminate rank 0 sends itself SIGTERM
 *   caught    rank 0 sends itself SIGTERM, for which it has a handler that calls _exit(5)
 *   chained   the same, but it calls the handler from before, if there was one, with the number alone; else
 *             the signal ends the process
 *   called    rank 0 sends itself SIGUSR1, for which it has a handler that calls the one from before, if
 * there was one; both ranks go on, to exit(3) hang      rank 0 waits for a message that never comes; rank 1
 * computes for ever; both print "pid N" */
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    MPI_Abort(*comm, 7);
}

static void on_terminate(int number)
{
    (void)number;
    _exit(5);
}

static void (*handler_before)(int number);

static bool has_handler_before(void) { return handler_before != SIG_DFL && handler_before != SIG_IGN; }

/* Whoever calls with the number alone leaves anything in the place of what else there may be. */
static void call_handler_before(int number)
{
    void (*call)(int number, long anything);
    memcpy(&call, &handler_before, sizeof call);
    call(number, 1);
}

static void on_chained(int number)
{
    if (has_handler_before()) {
        call_handler_before(number);
        return;
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void on_called(int number)
{
    if (has_handler_before())
        call_handler_before(number);
}

static void exchange(double seconds)
{
    double began = MPI_Wtime();
    int is_over = 0;
    while (!is_over) {
        int mine = MPI_Wtime() - began >= seconds;
        MPI_Allreduce(&mine, &is_over, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    }
}

/* Both in turn, so that one's end does not come before the other's. */
static void end_alone(const char *how)
{
    volatile int *nowhere = NULL;
    if (strcmp(how, "fault") == 0)
        printf("%d\n", *nowhere);
    if (strcmp(how, "abort3") == 0)
        abort();
    if (strcmp(how, "caught") == 0)
        signal(SIGTERM, on_terminate);
    if (strcmp(how, "chained") == 0)
        handler_before = signal(SIGTERM, on_chained);
    raise(SIGTERM);
}

static void hang(void)
{
    int never = 0;
    printf("pid %d\n", (int)getpid());
    fflush(stdout);
    if (rank == 0)
        MPI_Recv(&never, 1, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* hangs here */
    for (volatile int i = 0;; i++) {
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    exchange(argc > 2 ? atof(argv[2]) / 1000 : 0.01);
    if (rank == 0 && strcmp(how, "called") == 0) {
        handler_before = signal(SIGUSR1, on_called);
        raise(SIGUSR1);
    }
    if (strcmp(how, "exit") == 0 || strcmp(how, "called") == 0)
        exit(3);
    if (strcmp(how, "quick") == 0)
        _exit(4);
    if (strcmp(how, "hang") == 0)
        hang();
    if (rank == 0 && strcmp(how, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (rank == 0 && strcmp(how, "nested") == 0) {
        MPI_Errhandler handler;
        int nothing = 0;
        MPI_Comm_create_errhandler(on_error, &handler);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
        MPI_Send(&nothing, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD);
    }
    if (rank == 0)
        end_alone(how);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
