/* SPDX-License-Identifier: BSD-3-Clause */
/* headway.h: what a program may tell Headway, and ask it.
 *
 * A program needs none of this: Headway works on unmodified programs. It is for those that know more than the
 * library can see: a part that must not be disturbed, or the names of their phases.
 *
 * Nothing is linked. Every function looks for the library in the running process, once for each source file,
 * and without it returns HEADWAY_ABSENT at the price of one load and one branch. So one binary runs with
 * Headway and without. Works in C (C99 and newer) and C++, with any MPI; a glibc before 2.34 wants -ldl.
 * Fortran: headway.f90, beside this file. Python: `import headway`.
 *
 *     #include <headway.h>
 *
 *     headway_phase_begin("exchange");
 *     ...
 *     headway_phase_end();
 *
 * Any thread may call any function, before MPI_Init and after MPI_Finalize too, but not from a function that
 * MPI calls (an error handler, a reduction, a callback of a request). No function here calls MPI. */
#ifndef HEADWAY_H
#define HEADWAY_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Of this interface. A library knows its own version and those before; structures only ever grow. */
#define HEADWAY_INTERFACE_VERSION 1

/* What every function returns. */
enum {
    HEADWAY_OK = 0,
    HEADWAY_ABSENT = 1,  /* the library is not in this process: nothing was done */
    HEADWAY_MISUSE = -1, /* an end without a begin, a NULL pointer, a descriptor that cannot be */
    HEADWAY_FULL = -2    /* more phases, or listeners, than are kept; nothing was done */
};

/* Filled by headway_query. Figures are those of this process, since MPI_Init. */
struct headway_state {
    int is_active;         /* 1: an engine is on and not paused; makes progress when something is pending */
    int is_paused;         /* 1: headway_pause is in force */
    char version[16];      /* of the library, "0.1.0" */
    char engine[16];       /* "thread", or "off": before MPI_Init, after MPI_Finalize, or switched off */
    uint64_t pending;      /* operations that are tracked and not known to be complete */
    uint64_t tracked;      /* operations ever tracked */
    double waited_s;       /* time in MPI calls that waited for tracked operations */
    double overlapped_s;   /* time the program computed while some were pending */
    double recovered_s;    /* what the engine saved, estimated from what was measured; negative: cost. 0 where
                              it is not sure which of the two */
    double progress_cpu_s; /* processor time of the progress thread */
};

/* What the library hands out under the name headway_interface; programs call the functions below. */
struct headway_interface {
    size_t size;
    int (*pause)(void);
    int (*resume)(void);
    int (*phase_begin)(const char *name);
    int (*phase_end)(void);
    int (*query)(struct headway_state *state, size_t size);
    int (*listen)(int descriptor);
    int (*unlisten)(int descriptor);
};

/* NULL without the library. */
static inline const struct headway_interface *headway_find(void)
{
    static const struct headway_interface *found;
    static int is_looked_up;
    if (__atomic_load_n(&is_looked_up, __ATOMIC_ACQUIRE))
        return found;
    /* RTLD_DEFAULT, which is NULL on Linux but declared with _GNU_SOURCE only. */
    void *symbol = dlsym(NULL, "headway_interface");
    const struct headway_interface *(*get)(int) = NULL;
    memcpy(&get, &symbol, sizeof get);
    __atomic_store_n(&found, get ? get(HEADWAY_INTERFACE_VERSION) : NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&is_looked_up, 1, __ATOMIC_RELEASE);
    return found;
}

/* From here on Headway's thread makes no MPI call, until headway_resume; when this returns, it is in none.
 * Operations that are pending, or are posted meanwhile, are kept track of and stay what they are: they go on
 * as they would without Headway, whenever the program calls MPI. Ghosts, which are other processes, go on
 * serving the windows they have. Pauses nest, over all threads: as many resumes end them. */
static inline int headway_pause(void)
{
    const struct headway_interface *headway = headway_find();
    return headway ? headway->pause() : HEADWAY_ABSENT;
}

/* Ends the last pause. What is pending then is taken up again at once. HEADWAY_MISUSE without a pause. */
static inline int headway_resume(void)
{
    const struct headway_interface *headway = headway_find();
    return headway ? headway->resume() : HEADWAY_ABSENT;
}

/* A phase of the program begins: `headway report` tells its time, waiting and overlap by name (the record has
 * them under "phases"). Phases belong to the process and nest up to 16 deep; the time of an inner one is in
 * the outer one's too. Mark them from one thread at a time. At most 64 different names, of which the first 63
 * bytes count; the string is copied. Costs some 100 ns, with HEADWAY_PROFILE some microseconds. */
static inline int headway_phase_begin(const char *name)
{
    const struct headway_interface *headway = headway_find();
    return headway ? headway->phase_begin(name) : HEADWAY_ABSENT;
}

/* Ends the phase begun last. Phases still open in MPI_Finalize end there. */
static inline int headway_phase_end(void)
{
    const struct headway_interface *headway = headway_find();
    return headway ? headway->phase_end() : HEADWAY_ABSENT;
}

/* What the library does, and has done. Without it *state is all zero. */
static inline int headway_query(struct headway_state *state)
{
    const struct headway_interface *headway = headway_find();
    if (state)
        memset(state, 0, sizeof *state);
    return headway ? headway->query(state, sizeof *state) : HEADWAY_ABSENT;
}

/* For event loops. While a descriptor listens, Headway's thread makes progress for everything that is
 * pending, however small, and adds 1 to the descriptor (an eventfd, nonblocking) each time it has done so:
 * then is the time to test requests. It tells that something may have moved, not that something is complete;
 * where Headway has no thread it never tells, so keep a timer beside it. At most 16 listen. */
static inline int headway_listen(int descriptor)
{
    const struct headway_interface *headway = headway_find();
    return headway ? headway->listen(descriptor) : HEADWAY_ABSENT;
}

/* Ends it: the descriptor is not written to any more when this returns, and may be closed. */
static inline int headway_unlisten(int descriptor)
{
    const struct headway_interface *headway = headway_find();
    return headway ? headway->unlisten(descriptor) : HEADWAY_ABSENT;
}

#endif
