/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the program forks, and starts other programs, while large messages are pending: children that
 * exec, children that only compute and _exit, system(), none of which touches MPI. */
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

static void wait_for(pid_t child, int expected)
{
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == expected);
}

static void make_children(void)
{
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
        _exit(127);
    }
    wait_for(child, 5);
    child = fork();
    if (child == 0) {
        void *memory = malloc(1 << 20); /* the child's heap and locks must be usable */
        check_compute(500);
        free(memory);
        _exit(6);
    }
    wait_for(child, 6);
    CHECK(system("exit 0") == 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    int peer = check_rank ^ 1;
    int *sent = check_ints(LARGE_INTS), *received = check_ints(LARGE_INTS);
    for (unsigned round = 0; round < 4; round++) {
        MPI_Request requests[2];
        check_fill(sent, LARGE_INTS, 10 * round + (unsigned)check_rank);
        MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[1]);
        check_compute(COMPUTE_US);
        make_children();
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(check_is_filled(received, LARGE_INTS, 10 * round + (unsigned)peer));
    }
    check_report("forks", check_digest(received, LARGE_INTS * sizeof(int)));
    free(sent);
    free(received);
    MPI_Finalize();
    return 0;
}
