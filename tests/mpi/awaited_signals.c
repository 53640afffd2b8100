/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: signals of faults that the program blocks and waits for, sent to the process while messages
 * are pending. */
#include "check.h"

#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static const int signals[] = {SIGTRAP, SIGBUS, SIGSYS, SIGSEGV, SIGFPE, SIGILL};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaddset(&set, signals[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    MPI_Init(&argc, &argv);
    check_begin();
    int peer = check_rank ^ 1;
    int *sent = check_ints(LARGE_INTS), *received = check_ints(LARGE_INTS);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        MPI_Request requests[2];
        int signal = 0;
        check_fill(sent, LARGE_INTS, (unsigned)i * 10 + (unsigned)check_rank);
        MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
        check_compute(COMPUTE_US);
        kill(getpid(), signals[i]);
        CHECK(sigwait(&set, &signal) == 0 && signal == signals[i]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(check_is_filled(received, LARGE_INTS, (unsigned)i * 10 + (unsigned)peer));
        check_report("signal", (uint64_t)signal);
    }
    MPI_Finalize();
    free(sent);
    free(received);
    return 0;
}
