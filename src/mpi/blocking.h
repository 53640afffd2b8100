/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking communication, in entries of the functions that spec/mpi-functions.toml calls blocking. Engines
 * may ask to be told of it (progress/inside.h): it is a moment at which the program comes to MPI, and the
 * time in it, while a window of overlap is open, is not computation; the call itself makes progress. */
#ifndef HW_MPI_BLOCKING_H
#define HW_MPI_BLOCKING_H

#include "base/clock.h"
#include "engines/engine.h"
#include "progress/inside.h"

#include <stdint.h>

/* The value of `call`. One load and one branch unless an engine has asked. */
#define HW_BLOCKING(call)                                                                                    \
    ({                                                                                                       \
        uint64_t hw_began_ns =                                                                               \
            hw_inside_wants(HW_INSIDE_TIMES | HW_INSIDE_PASSES | HW_INSIDE_GOES) ? hw_engines_block() : 0;   \
        __auto_type hw_result = (call);                                                                      \
        if (__builtin_expect(hw_began_ns != 0, 0))                                                           \
            hw_engines_blocked(hw_began_ns);                                                                 \
        hw_result;                                                                                           \
    })

/* The same around other calls with which a program comes to MPI (spec, `passing`). */
#define HW_PASSING(call)                                                                                     \
    ({                                                                                                       \
        bool hw_is_wanted = hw_inside_wants(HW_INSIDE_PASSES | HW_INSIDE_GOES);                              \
        if (hw_is_wanted)                                                                                    \
            hw_engines_pass();                                                                               \
        __auto_type hw_passed = (call);                                                                      \
        if (__builtin_expect(hw_is_wanted, 0))                                                               \
            hw_engines_go();                                                                                 \
        hw_passed;                                                                                           \
    })

#endif
