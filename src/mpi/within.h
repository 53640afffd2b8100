/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls from within MPI about which engines are asked (spec, `within`). Callbacks of the program run there,
 * of attributes, of error handlers, of generalized requests; of the MPI's own calls nothing is an engine's.
 * Any thread, inside MPI; an entry that finds itself outside pays nothing for it. doc/adr/0056. */
#ifndef HW_MPI_WITHIN_H
#define HW_MPI_WITHIN_H

#include "engines/engine.h"
#include "mpi/freeing.h"
#include "progress/inside.h"
#include "real/real.h"

/* The call's value: what was answered, or `bottom` makes the MPI's own. What a thread owes it pays at once,
 * because the entry around this call may be one that knows no debts (hw_inside_owe). */
#define HW_WITHIN(asked, bottom)                                                                             \
    ({                                                                                                       \
        int hw_within;                                                                                       \
        if (hw_real_next_has_call) {                                                                         \
            hw_real_next_has_call = false;                                                                   \
            hw_within = (bottom);                                                                            \
            hw_real_next_has_call = true;                                                                    \
        } else {                                                                                             \
            hw_inside_pay();                                                                                 \
            hw_within = (asked);                                                                             \
            hw_inside_pay();                                                                                 \
            if (hw_within == HW_DECLINES)                                                                    \
                hw_within = (bottom);                                                                        \
        }                                                                                                    \
        hw_within;                                                                                           \
    })

/* The same of a call on a communicator. While it is freed engines keep nothing on it: their attributes of it
 * may be gone before the program's. All its processes are in that call, so none of them is asked. */
#define HW_WITHIN_ON(comm, asked, bottom) HW_WITHIN(hw_freeing_is(comm) ? HW_DECLINES : (asked), bottom)

#endif
