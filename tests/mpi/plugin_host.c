/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: plugin_host LIBRARY: a program that links no MPI and opens, privately, a library that does. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL) {
        fprintf(stderr, "plugin_host: %s\n", argc == 2 ? dlerror() : "needs the path of a library");
        return 2;
    }
    void (*run)(void) = (void (*)(void))dlsym(library, "plugin_run");
    if (run == NULL)
        return 3;
    run();
    return 0;
}
