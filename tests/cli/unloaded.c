/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls MPI from a plugin, named relative to this directory, that is unloaded again.
 * Usage: unloaded ./PLUGIN. As -DPLUGIN: the plugin. */
#include <mpi.h>

#ifdef PLUGIN

void work(int count)
{
    for (int i = 0; i < count; i++)
        MPI_Barrier(MPI_COMM_WORLD); /* site: plugin */
}

#else

#include <dlfcn.h>
#include <stdio.h>

enum { COUNT = 11 };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    void (*work)(int) = NULL;
    if (plugin)
        *(void **)&work = dlsym(plugin, "work");
    if (!work)
        MPI_Abort(MPI_COMM_WORLD, 1);
    work(COUNT);
    dlclose(plugin);
    if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD))
        MPI_Abort(MPI_COMM_WORLD, 2);
    printf("unloaded\n");
    MPI_Finalize();
    return 0;
}

#endif
