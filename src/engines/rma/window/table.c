/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/window/table.h"

#include "base/atomic.h"
#include "profile/record/counters.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

struct hw_rma_windows *_Atomic hw_rma_windows;
_Thread_local struct hw_rma_window *hw_rma_freeing;

_Atomic uint32_t hw_rma_table_at_barriers_count;
_Atomic uint64_t hw_rma_table_stamp = 1;

static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER; /* guards changes of the table and the list */
static struct hw_rma_window *first_window;

static struct hw_rma_windows *make_table(size_t capacity)
{
    struct hw_rma_windows *table = calloc(1, sizeof *table + capacity * sizeof table->slots[0]);
    if (table)
        table->mask = capacity - 1;
    return table;
}

/* Under list_mutex. There is a free place. */
static void fill_slot(struct hw_rma_windows *table, uintptr_t key, struct hw_rma_window *window)
{
    size_t i = hw_rma_hash(key) & table->mask;
    for (;; i = (i + 1) & table->mask) {
        uintptr_t found = hw_atomic_load_relaxed(&table->slots[i].key);
        if (found == 0)
            table->used++;
        if (found == 0 || found == key)
            break;
    }
    hw_atomic_store_release(&table->slots[i].window, window);
    hw_atomic_store_release(&table->slots[i].key, key);
}

/* A larger table for the windows that live. The old one may still be read: it is never freed, and all
 * of them together are smaller than the last. */
static struct hw_rma_windows *grow(const struct hw_rma_windows *old)
{
    struct hw_rma_windows *table = make_table((old->mask + 1) * 2);
    for (size_t i = 0; table && i <= old->mask; i++) {
        struct hw_rma_window *window = hw_atomic_load_relaxed(&old->slots[i].window);
        if (window)
            fill_slot(table, hw_atomic_load_relaxed(&old->slots[i].key), window);
    }
    return table;
}

/* Under list_mutex. */
static void count_at_barriers(int change)
{
    hw_atomic_add_relaxed(&hw_rma_table_at_barriers_count, (uint32_t)change);
    hw_atomic_add_relaxed(&hw_rma_table_stamp, 1);
}

bool hw_rma_window_enter(struct hw_rma_window *window)
{
    pthread_mutex_lock(&list_mutex);
    struct hw_rma_windows *table = hw_atomic_load_relaxed(&hw_rma_windows);
    if (table->used > table->mask / 2) {
        struct hw_rma_windows *larger = grow(table);
        if (larger)
            hw_atomic_store_release(&hw_rma_windows, larger);
        /* Without memory it may fill up, but for one place at which a search ends. */
        table = larger || table->used >= table->mask ? larger : table;
    }
    if (table) {
        fill_slot(table, (uintptr_t)window->handle, window);
        window->next = first_window;
        first_window = window;
    }
    if (table && window->routes.changes_at_barriers)
        count_at_barriers(1);
    pthread_mutex_unlock(&list_mutex);
    return table != NULL;
}

void hw_rma_window_leave(struct hw_rma_window *window)
{
    pthread_mutex_lock(&list_mutex);
    if (hw_rma_find(window->handle) == window) /* else it was free, and is another's */
        fill_slot(hw_atomic_load_relaxed(&hw_rma_windows), (uintptr_t)window->handle, NULL);
    for (struct hw_rma_window **link = &first_window; *link; link = &(*link)->next) {
        if (*link == window) {
            *link = window->next;
            break;
        }
    }
    if (window->routes.changes_at_barriers)
        count_at_barriers(-1);
    pthread_mutex_unlock(&list_mutex);
}

struct hw_rma_window *hw_rma_window_first(void)
{
    pthread_mutex_lock(&list_mutex);
    struct hw_rma_window *lowest = first_window;
    for (struct hw_rma_window *window = first_window; window; window = window->next)
        if (window->id < lowest->id)
            lowest = window;
    pthread_mutex_unlock(&list_mutex);
    return lowest;
}

/* Whether its members are those of GROUP, SIZE processes. */
static bool has_members(const struct hw_rma_window *window, MPI_Group group, int size)
{
    int result = MPI_UNEQUAL;
    return window->size == size && hw_bottom.Group_compare(window->group, group, &result) == MPI_SUCCESS &&
           result != MPI_UNEQUAL;
}

int hw_rma_table_at_barriers(MPI_Group group, struct hw_rma_window **windows, int max)
{
    int size = 0, count = 0;
    hw_bottom.Group_size(group, &size);
    pthread_mutex_lock(&list_mutex);
    for (struct hw_rma_window *window = first_window; window; window = window->next) {
        if (!window->routes.changes_at_barriers || !has_members(window, group, size))
            continue;
        int place = count < max ? count++ : max;
        for (; place > 0 && windows[place - 1]->id > window->id; place--)
            if (place < max)
                windows[place] = windows[place - 1];
        if (place < max)
            windows[place] = window;
    }
    pthread_mutex_unlock(&list_mutex);
    return count;
}

void hw_rma_table_count(void)
{
    pthread_mutex_lock(&list_mutex);
    for (struct hw_rma_window *window = first_window; window; window = window->next)
        HW_COUNT_ADD(operations_redirected, hw_atomic_exchange_seq_cst(&window->op_count, 0));
    pthread_mutex_unlock(&list_mutex);
}

enum hw_status hw_rma_table_open(void)
{
    struct hw_rma_windows *table = make_table(FIRST_CAPACITY);
    if (table == NULL)
        return HW_NOMEM;
    hw_atomic_store_release(&hw_rma_windows, table);
    return HW_OK;
}

void hw_rma_table_close(void) { hw_atomic_store_release(&hw_rma_windows, NULL); }
