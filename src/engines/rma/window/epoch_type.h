/* SPDX-License-Identifier: BSD-3-Clause */
/* The info key epoch_type (papers/002 section 7.1): the kinds of epochs a program promises to use on a
 * window. What only the others need is not made. Any thread. */
#ifndef HW_ENGINES_RMA_WINDOW_EPOCH_TYPE_H
#define HW_ENGINES_RMA_WINDOW_EPOCH_TYPE_H

#include "engines/rma/window/window.h"

#include <stdbool.h>

enum hw_rma_epoch_type {
    HW_RMA_EPOCH_FENCE = 1,
    HW_RMA_EPOCH_PSCW = 2,
    HW_RMA_EPOCH_LOCK = 4,
    HW_RMA_EPOCH_LOCK_ALL = 8,
    HW_RMA_EPOCH_ANY = 15,
};

/* A union of enum hw_rma_epoch_type: `epoch_type` is a list of fence, pscw, lock and lockall, with a comma, a
 * vertical bar or blanks between them. ANY where the key is missing or has other words, of which one line
 * tells. */
int hw_rma_epoch_types_read(MPI_Info info);

/* Whether the window may have this kind of epoch. */
static inline bool hw_rma_epoch_is_allowed(const struct hw_rma_window *window, enum hw_rma_epoch_type type)
{
    return __builtin_expect((window->epoch_types & (int)type) != 0, 1);
}

/* It may not: an error, after one line, that was raised. Nobody is waited for. */
int hw_rma_epoch_refuse(const struct hw_rma_window *window, const char *call);

#endif
