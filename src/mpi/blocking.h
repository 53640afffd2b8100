/* Time in blocking communication while a window of overlap is open is no computation, and the call itself
 * makes progress, so the engine must not take it for time to gain. In entries of the functions that
 * spec/mpi-functions.toml calls blocking. */
#ifndef HW_MPI_BLOCKING_H
#define HW_MPI_BLOCKING_H

#include "base/clock.h"
#include "engines/engine.h"
#include "progress/inside.h"

#include <stdint.h>

/* The value of `call`. One load and one branch unless somebody wants the time. */
#define HW_BLOCKING(call)                                                                                    \
    ({                                                                                                       \
        uint64_t hw_began_ns = __builtin_expect(hw_inside_is_timed(), 0) ? hw_clock_now_ns() : 0;            \
        __auto_type hw_result = (call);                                                                      \
        if (__builtin_expect(hw_began_ns != 0, 0))                                                           \
            hw_engines_blocked(hw_began_ns);                                                                 \
        hw_result;                                                                                           \
    })

#endif
