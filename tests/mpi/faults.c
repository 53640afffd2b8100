/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: receive buffers whose pages are write-protected, and a handler that lets each first write
 * through, as incremental checkpoints and shared memory in software have it. */
#include "check.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUNDS = 5 };

static volatile sig_atomic_t has_faulted;
static size_t page_bytes;

static void unprotect(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    has_faulted = 1;
    mprotect((void *)((uintptr_t)info->si_addr & ~(uintptr_t)(page_bytes - 1)), page_bytes,
             PROT_READ | PROT_WRITE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    struct sigaction action = {.sa_sigaction = unprotect, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    int peer = check_rank ^ 1;
    size_t bytes = LARGE_INTS * sizeof(int);
    int *sent = check_ints(LARGE_INTS);
    int *received = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(received != MAP_FAILED);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[2];
        check_fill(sent, LARGE_INTS, (unsigned)(round * 10 + check_rank));
        mprotect(received, bytes, PROT_READ);
        if (check_rank % 2 == 1) /* so that something is left to the other's thread */
            check_compute(COMPUTE_US);
        MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
        check_compute(5 * COMPUTE_US);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(check_is_filled(received, LARGE_INTS, (unsigned)(round * 10 + peer)));
    }
    check_report("faults", (uint64_t)has_faulted);
    MPI_Finalize();
    return 0;
}
