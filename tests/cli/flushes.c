/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: flushes COUNT: asks for the record so often, sleeps for a second, and says how often one has
 * been written by then: each is renamed, which the library does by this function. */
#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int renames;

int rename(const char *from, const char *to)
{
    atomic_fetch_add(&renames, 1);
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < atoi(argv[1]); i++)
        MPI_Pcontrol(2);
    usleep(1000000);
    printf("written %d times\n", atomic_load(&renames));
    MPI_Finalize();
    return 0;
}
