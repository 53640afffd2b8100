/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: loading LIBRARY: the program's first call of MPI comes while another thread loads a library,
 * whose constructor walks through the loaded objects, as a C++ exception does. */
#include <mpi.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { BEGUN_US = 100 * 1000 }; /* in which the thread has come to the constructor */

static void *load(void *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }

int main(int argc, char **argv)
{
    pthread_t thread;
    void *library = NULL;
    int is_initialized = 1;
    if (argc != 2 || pthread_create(&thread, NULL, load, argv[1]) != 0)
        return 2;
    usleep(BEGUN_US);
    MPI_Initialized(&is_initialized);
    pthread_join(thread, &library);
    printf("loaded %d, MPI %d\n", library != NULL, is_initialized);
    return 0;
}
