/* SPDX-License-Identifier: BSD-3-Clause */
#include "objects/request_look.h"

#include "base/atomic.h"
#include "objects/request_lock.h"
#include "objects/request_table.h"

#include <stdlib.h>
#include <string.h>

atomic_uint hw_request_lookers;

/* Not in the door: an error handler of the program's may leave that by longjmp. */
static _Thread_local struct {
    MPI_Request *handles; /* of the array, before the real call */
    int count;
    uint64_t last_number; /* of what was posted before: an entry with a later one is another request */
    bool is_looking, is_followed, is_taken;
    MPI_Request inline_handles[HW_REQUEST_ITEMS];
} look;

static bool is_any_active(int count, const MPI_Request *requests, bool *is_followed)
{
    bool is_any = false;
    *is_followed = false;
    for (int i = 0; i < count && !*is_followed; i++) {
        const struct hw_request_slot *slot = hw_request_find(requests[i]);
        if (slot && slot->state >= HW_REQUEST_ACTIVE) {
            is_any = true;
            *is_followed = slot->is_followed;
        }
    }
    return is_any;
}

static bool remember(int count, const MPI_Request *requests)
{
    look.handles = look.inline_handles;
    if (count > HW_REQUEST_ITEMS && (look.handles = malloc((size_t)count * sizeof *requests)) == NULL)
        return false;
    memcpy(look.handles, requests, (size_t)count * sizeof *requests);
    look.count = count;
    look.is_taken = false;
    look.is_looking = true;
    hw_atomic_add_seq_cst(&hw_request_lookers, 1);
    return true;
}

enum hw_request_looking hw_request_look(int count, const MPI_Request *requests)
{
    bool is_plain =
        hw_atomic_load_relaxed(&hw_request_attached) == 0 && hw_atomic_load_relaxed(&hw_request_once) == 0;
    if (!is_plain || look.is_looking)
        return HW_REQUEST_MUST_TAKE;
    if (requests == NULL) /* the MPI says what it thinks of that */
        return HW_REQUEST_LOOKS_AT_NOTHING;
    hw_request_touch(count, requests);
    hw_request_lock();
    bool is_any = is_any_active(count, requests, &look.is_followed);
    look.last_number = hw_request_last_number;
    hw_request_unlock();
    if (!is_any)
        return HW_REQUEST_LOOKS_AT_NOTHING;
    return remember(count, requests) ? HW_REQUEST_LOOKS : HW_REQUEST_MUST_TAKE;
}

/* The entry of what is looked at; NULL: the handle is of another request by now, or another door's. */
static struct hw_request_slot *entry_of(MPI_Request handle)
{
    struct hw_request_slot *slot = hw_request_find(handle);
    bool is_later = slot && slot->number > look.last_number;
    return slot == NULL || is_later || slot->state < HW_REQUEST_ACTIVE ? NULL : slot;
}

/* `request`: what the real call left in its place. Once for each. */
static void end(int index, MPI_Request request, struct hw_request_changes *by)
{
    MPI_Request handle = look.handles[index];
    struct hw_request_slot *slot = entry_of(handle);
    look.handles[index] = request;
    if (slot && slot->is_persistent && request == handle)
        hw_request_change(slot, HW_REQUEST_INACTIVE, by);
    else if (slot)
        hw_request_erase(slot, by);
}

void hw_request_look_found(const MPI_Request *requests, int index)
{
    hw_request_lock();
    struct hw_request_changes by = hw_request_no_changes();
    end(index, requests[index], &by);
    hw_request_count(&by);
    hw_request_unlock();
}

void hw_request_look_untold(const MPI_Request *requests)
{
    hw_request_lock();
    struct hw_request_changes by = hw_request_no_changes();
    for (int i = 0; i < look.count; i++) {
        struct hw_request_slot *slot = entry_of(look.handles[i]);
        if (slot && slot->is_persistent && requests[i] == look.handles[i])
            hw_request_change(slot, HW_REQUEST_INACTIVE, &by);
    }
    hw_request_count(&by);
    hw_request_unlock();
}

void hw_request_look_take(struct hw_request_changes *by)
{
    if (!look.is_looking || look.is_taken)
        return;
    look.is_taken = true;
    for (int i = 0; i < look.count; i++) {
        struct hw_request_slot *slot = entry_of(look.handles[i]);
        if (slot)
            hw_request_change(slot, HW_REQUEST_TAKEN, by);
    }
}

static void give_back(struct hw_request_changes *by)
{
    for (int i = 0; i < look.count; i++) {
        struct hw_request_slot *slot = entry_of(look.handles[i]);
        if (slot && slot->state == HW_REQUEST_TAKEN)
            hw_request_change(slot, HW_REQUEST_ACTIVE, by);
    }
}

bool hw_request_looked(const MPI_Request *requests, int found, const int *indices, bool are_all,
                       bool *is_any_pending)
{
    hw_request_lock();
    struct hw_request_changes by = hw_request_no_changes();
    if (look.is_taken)
        give_back(&by);
    for (int i = 0; i < found; i++) {
        int index = indices ? indices[i] : i;
        if (index >= 0 && index < look.count)
            end(index, requests[index], &by);
    }
    /* Nothing else has changed, mostly, which is seen fastest in one go. */
    bool is_same = are_all || memcmp(requests, look.handles, (size_t)look.count * sizeof *requests) == 0;
    for (int i = 0; i < look.count && !is_same; i++)
        if (requests[i] != look.handles[i])
            end(i, requests[i], &by);
    hw_request_count(&by);
    hw_request_unlock();
    look.is_looking = false;
    hw_atomic_sub_seq_cst(&hw_request_lookers, 1);
    *is_any_pending = hw_atomic_load_seq_cst(&hw_request_pending) != 0; /* after it: all of it was hidden */
    if (look.handles != look.inline_handles)
        free(look.handles);
    return look.is_followed || *is_any_pending;
}
