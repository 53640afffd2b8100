/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows that engines have taken, where entry points must know them before they call a hook or the MPI. Also
 * asked when MPI calls itself: the program's own callbacks run there. Any thread. */
#ifndef HW_MPI_WINDOW_H
#define HW_MPI_WINDOW_H

#include "base/visibility.h"
#include "engines/engine.h"
#include "real/real.h"

#include <stdbool.h>
#include <string.h>

/* Turns a window and a rank of the program's into the real ones whose memory it is, and says where in this
 * process that is if we know better than the MPI. A library behind us that passes our call on has the real
 * ones. */
HW_HIDDEN struct hw_engine_place hw_win_memory(MPI_Win *win, int *rank);

/* Frees one of the MPI's own from within MPI, of which engines were told. False: it is none of these, or the
 * MPI refuses, and is to say so once more. */
HW_HIDDEN bool hw_win_freed_within(MPI_Win *win);

/* The unit is an int, or an MPI_Aint in the _c function. */
#define HW_WIN_SHOW(place, size_out, unit_out, base_out)                                                     \
    do {                                                                                                     \
        if ((place).memory) {                                                                                \
            *(size_out) = (place).size;                                                                      \
            *(unit_out) = (__typeof__(*(unit_out)))(place).disp_unit;                                        \
            memcpy(base_out, &(place).memory, sizeof(place).memory);                                         \
        }                                                                                                    \
        if ((place).is_nowhere)                                                                              \
            memset(base_out, 0, sizeof(void *));                                                             \
    } while (0)

#endif
