/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: rank 1 ends with MPI_Abort of itself alone, status 7, while the launcher's process of its node
 * gets no core for a while. The others wait for it. */
#include "check.h"

#include <signal.h>
#include <unistd.h>

enum { PAUSE_US = 800 * 1000 };

static void hold(pid_t launcher)
{
    kill(launcher, SIGSTOP);
    if (fork() == 0) {
        usleep(PAUSE_US);
        kill(launcher, SIGCONT);
        _exit(0);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    if (check_rank == 1) {
        hold(getppid());
        MPI_Abort(MPI_COMM_SELF, 7);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
