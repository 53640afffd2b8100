/* SPDX-License-Identifier: BSD-3-Clause */
/* The line of a Python program that made a call, where the call comes from an extension module of CPython,
 * such as mpi4py's.
 *
 * mpi4py gives up the interpreter's lock around MPI calls, and taking it could wait for a thread that waits
 * for this one. It is not needed: while a thread is in a call, its frames stay as they are, its own
 * references keep their code alive, and lines, names and file names never change. So the frames are read as
 * they lie in memory (python_code.h), by the thread they belong to, and nothing of the interpreter is
 * touched:
 *
 * - only in versions whose layout is known, after every frame of a first call was seen to be as expected, by
 * reads that cannot fault;
 * - only while the interpreter is initialised and knows the thread;
 * - by plain loads in the process's first thread alone. What other threads have may be freed under them while
 *   the interpreter ends, so their reads are ones that cannot fault either (some 1 us a call).
 *
 * Wherever it does not work out, the call counts where it came from in the extension module. Any thread may
 * call. No lock is held across anything of the interpreter. */
#ifndef HW_PROFILE_PYTHON_PYTHON_H
#define HW_PROFILE_PYTHON_PYTHON_H

#include <stdbool.h>

/* One line of a program, in calls through one place of an extension module. */
struct hw_python_place {
    const void *address; /* that place */
    const char *file, *function;
    int line;
};

/* Whether the shared object of this return address is an extension module of a CPython in this process. */
bool hw_python_is_extension(const void *address);

/* What a call that returns to this address of an extension module counts under: a place as an address, or the
 * address itself. */
const void *hw_python_find(const void *address);

/* The same with who called that line: at most `wanted` places, the innermost first. Returns how many: 1 at
 * least, which may be the address itself. */
int hw_python_find_callers(const void *address, const void **found, int wanted);

/* The place that was such an address; NULL: it is none. */
const struct hw_python_place *hw_python_place_of(const void *site);

/* Why lines are not known, as text without quotes; NULL: they are, or nobody asked for one. */
const char *hw_python_refusal(void);

#endif
