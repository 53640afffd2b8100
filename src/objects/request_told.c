/* SPDX-License-Identifier: BSD-3-Clause */
/* What a door found out about the requests that it took, and who is told. */
#include "base/atomic.h"
#include "objects/request.h"
#include "real/quirks.h"

#include <stdlib.h>
#include <string.h>

/* The first array of items beyond the door's own is kept for the next door: a program may ask about many
 * requests again and again. */
enum { KEPT_ITEMS = 4 * HW_REQUEST_ITEMS };
static _Atomic(struct hw_request_item *) kept;

bool hw_request_items_grow(struct hw_request_taken *taken)
{
    int capacity = 4 * taken->capacity; /* KEPT_ITEMS at first */
    bool is_inline = taken->items == taken->inline_items;
    struct hw_request_item *items = is_inline ? hw_atomic_exchange_acq_rel(&kept, NULL) : NULL;
    if (!items)
        items = realloc(is_inline ? NULL : taken->items, (size_t)capacity * sizeof *items);
    if (!items)
        return false;
    if (is_inline)
        memcpy(items, taken->inline_items, sizeof taken->inline_items);
    taken->items = items;
    taken->capacity = capacity;
    return true;
}

void hw_request_items_free(struct hw_request_taken *taken)
{
    if (taken->items == taken->inline_items)
        return;
    free(taken->capacity == KEPT_ITEMS ? hw_atomic_exchange_acq_rel(&kept, taken->items) : taken->items);
}

static void mark(struct hw_request_item *item, const MPI_Status *status, int error)
{
    item->is_complete = true;
    item->status = status;
    item->error = error;
}

void hw_request_mark_complete(struct hw_request_taken *taken, int index, const MPI_Status *status, int error)
{
    int low = 0, high = taken->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (taken->items[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < taken->count && taken->items[low].index == index)
        mark(&taken->items[low], status, error);
}

void hw_request_mark_all_complete(struct hw_request_taken *taken, const MPI_Status *statuses)
{
    bool has_statuses = taken->attached > 0;
    for (int i = 0; i < taken->count; i++)
        mark(&taken->items[i], has_statuses ? &statuses[taken->items[i].index] : NULL, MPI_SUCCESS);
}

void hw_request_mark_each(struct hw_request_taken *taken, const MPI_Status *statuses)
{
    for (int i = 0; i < taken->count; i++) {
        const MPI_Status *status = &statuses[taken->items[i].index];
        if (status->MPI_ERROR != MPI_ERR_PENDING)
            mark(&taken->items[i], status, status->MPI_ERROR);
    }
}

void hw_request_tell(const struct hw_request_taken *taken)
{
    for (int i = 0; i < taken->count; i++) {
        const struct hw_request_item *item = &taken->items[i];
        if (item->calls == NULL)
            continue;
        if (item->calls->completed) {
            bool is_cancelled = item->status && hw_real_is_cancelled(item->status);
            item->calls->completed(item->attachment, item->status, item->error, is_cancelled);
        }
        if (item->is_gone)
            item->calls->freed(item->attachment);
    }
}

void hw_request_end_once(const struct hw_request_taken *taken, MPI_Request *requests)
{
    for (int i = 0; i < taken->count; i++) {
        const struct hw_request_item *item = &taken->items[i];
        bool is_there = requests[item->index] == item->handle; /* else the MPI freed it, for its error */
        if (item->is_once && item->is_complete && is_there)
            hw_bottom.Request_free(&requests[item->index]);
    }
}
