/* SPDX-License-Identifier: BSD-3-Clause */
/* Detection tells which MPI this process runs on, and whether this library was built for it.
 *
 * Makes no MPI call and allocates nothing lasting, except hw_real_detect_version, which asks
 * MPI_Get_library_version. Any thread, at any time. */
#ifndef HW_REAL_DETECT_H
#define HW_REAL_DETECT_H

#include "base/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hw_real_flavour {
    HW_REAL_FLAVOUR_NONE,
    HW_REAL_FLAVOUR_MPICH, /* MPICH, Intel MPI, and others of the MPICH ABI */
    HW_REAL_FLAVOUR_OMPI,
    HW_REAL_FLAVOUR_ABI, /* libmpi_abi.so: the MPI-5 standard ABI; not built for yet */
};

struct hw_real_library {
    enum hw_real_flavour flavour;
    char path[PATH_MAX];
    uintptr_t base; /* load address */
    void *handle;   /* dlopen handle, never closed */
};

/* The flavour this library was compiled for, and the words a user knows it by. */
enum hw_real_flavour hw_real_flavour_built(void);
const char *hw_real_flavour_name(enum hw_real_flavour flavour);
/* "libheadway-mpich.so" or "libheadway-ompi.so". */
const char *hw_real_flavour_library(enum hw_real_flavour flavour);

/* Looks through the loaded objects for the MPI library; one of our own flavour is preferred. HW_OK with
 * *library filled, or HW_AGAIN when the process holds none. */
enum hw_status hw_real_detect(struct hw_real_library *library);

/* The path of the loaded object whose path IS_WANTED, INDEX of them being before it, in PATH, which has SIZE
 * bytes. False: there is none. Those with a longer path are left out. IS_WANTED calls nothing of the loader.
 */
bool hw_real_object_find(bool (*is_wanted)(const char *path), size_t index, char *path, size_t size);

/* The library found by hw_real_load; flavour NONE before. */
const struct hw_real_library *hw_real_library_used(void);

/* First line of MPI_Get_library_version; valid until the process ends. Not from a signal handler. */
const char *hw_real_detect_version(void);

/* True if one-sided communication within a node goes by the origin's own loads and stores on memory from
 * MPI_Win_allocate, so that the target's processor is never needed. */
bool hw_real_is_node_rma_direct(void);

/* False where the origin of an accumulate asks its target several times (Open MPI's osc/rdma: lock, get, put
 * back): through another process that shares a core that takes many times as long as plain, within a node and
 * with the target in MPI. */
bool hw_real_is_accumulate_one_request(void);

/* False where MPI_Win_create gives windows that lose data: Open MPI 4.1's osc/rdma gave wrong results of
 * MPI_Get_accumulate with derived datatypes in tests/mpi/ghosts.c, and its osc/pt2pt aborts or refuses. */
bool hw_real_is_window_sound(void);

/* True if MPI_Win_flush returns after a Put is in the target's memory, whoever looks there. After MPI_Init*.
 */
bool hw_real_is_flush_remote(void);

/* Transports which the MPI has brought into the process ("ucx", "ofi", "tcp", ...), comma separated,
 * found from the names of loaded objects; "" if none is known. Fills at most `size` bytes. */
void hw_real_detect_transports(char *names, size_t size);

/* True if this shared object is one of the MPI's for another language, which stands between a program and the
 * C functions: their callers say nothing about the program. */
bool hw_real_is_language_layer(const char *path);

/* True if this shared object is part of an MPI library, or of a transport that comes with it. */
bool hw_real_is_mpis_own(const char *path);

/* Calls visit(name, context) for every function the library exports whose name starts with "MPI_". */
void hw_real_detect_exports(const struct hw_real_library *library,
                            void (*visit)(const char *name, void *context), void *context);

/* Gives back the memory of the library's symbol tables and of what is constant in our own: what was read from
 * a file is read again when it is needed. Useful after many look-ups: our own, and those of MPI_Init, which
 * go through us where the MPI loads its components. */
void hw_real_detect_release(const struct hw_real_library *library);

#endif
