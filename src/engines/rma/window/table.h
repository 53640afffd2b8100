/* SPDX-License-Identifier: BSD-3-Clause */
/* The redirected windows of a user process. Any thread, inside a hook. */
#ifndef HW_ENGINES_RMA_WINDOW_TABLE_H
#define HW_ENGINES_RMA_WINDOW_TABLE_H

#include "base/atomic.h"
#include "base/status.h"
#include "base/visibility.h"
#include "engines/rma/window/window.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Windows by handle: open addressing. Readers take no lock: a table is never changed but by filling an empty
 * place, or emptying `window`; a larger one replaces it. NULL while nothing may be redirected. */
struct hw_rma_slot {
    _Atomic uintptr_t key; /* the handle; 0: free */
    _Atomic(struct hw_rma_window *) window;
};
struct hw_rma_windows {
    size_t mask;
    size_t used;
    struct hw_rma_slot slots[];
};
extern HW_HIDDEN struct hw_rma_windows *_Atomic hw_rma_windows;

/* At the start, from when on windows may be redirected, and in MPI_Finalize. */
enum hw_status hw_rma_table_open(void);
void hw_rma_table_close(void);

/* True while windows may be redirected. */
static inline bool hw_rma_is_on(void)
{
    return __builtin_expect(hw_atomic_load_acquire(&hw_rma_windows) != NULL, 0);
}

static inline size_t hw_rma_hash(uintptr_t key)
{
    return (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 40);
}

/* NULL: not redirected. */
static inline struct hw_rma_window *hw_rma_find(MPI_Win win)
{
    struct hw_rma_windows *windows = hw_atomic_load_acquire(&hw_rma_windows);
    if (__builtin_expect(windows == NULL, 1))
        return NULL;
    uintptr_t wanted = (uintptr_t)win;
    for (size_t i = hw_rma_hash(wanted) & windows->mask;; i = (i + 1) & windows->mask) {
        uintptr_t key = hw_atomic_load_acquire(&windows->slots[i].key);
        if (key == wanted)
            return hw_atomic_load_acquire(&windows->slots[i].window);
        if (key == 0)
            return NULL;
    }
}

/* That which this thread is freeing: hw_rma_find has it no more, and callbacks of the program's still ask
 * about it. NULL: none. */
extern HW_HIDDEN _Thread_local struct hw_rma_window *hw_rma_freeing;

/* True once the table and the list hold it. */
bool hw_rma_window_enter(struct hw_rma_window *window);
void hw_rma_window_leave(struct hw_rma_window *window);
/* That of the lowest id; NULL: there is none. */
struct hw_rma_window *hw_rma_window_first(void);

/* Windows whose members agree at barriers (barrier.h): how many there are, and a number that is another
 * whenever one is made or freed. */
extern HW_HIDDEN _Atomic uint32_t hw_rma_table_at_barriers_count;
extern HW_HIDDEN _Atomic uint64_t hw_rma_table_stamp;

/* Those of the members of GROUP, in any order; the lowest ids first, MAX at most. Returns how many. */
int hw_rma_table_at_barriers(MPI_Group group, struct hw_rma_window **windows, int max);

/* Adds what windows that still live did to the counters. */
void hw_rma_table_count(void);

#endif
