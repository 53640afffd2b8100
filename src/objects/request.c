/* SPDX-License-Identifier: BSD-3-Clause */
/* The pending tracker: a table of request handles under one lock, which nobody holds over a real call. */
#include "objects/request.h"

#include "base/atomic.h"
#include "objects/request_lock.h"
#include "objects/request_look.h"
#include "objects/request_poll.h"
#include "objects/request_table.h"
#include "real/quirks.h"

static uint32_t poll_cursor;  /* where the next poll looks first; progress thread */
static uint32_t passed_count; /* slots that polls have looked at in vain since the table was fitted */

/* Whose the attachment of an entry is. */
struct owner {
    const struct hw_request_calls *calls; /* NULL: nobody's */
    void *attachment;
};

static struct owner owner_of(const struct hw_request_slot *slot)
{
    return slot->state == HW_REQUEST_EMPTY ? (struct owner){0}
                                           : (struct owner){slot->calls, slot->attachment};
}

/* Of an entry whose handle the MPI gives to another request: what a door has is the door's to the end. */
static struct owner owner_before(const struct hw_request_slot *slot)
{
    return slot->state == HW_REQUEST_TAKEN ? (struct owner){0} : owner_of(slot);
}

/* Whether a door has the attachment that completes the request. Only that door may: so a handle that comes
 * to another one, or is to be freed, is of a later request, to which the MPI gave it. */
static bool is_held(const struct hw_request_slot *slot)
{
    return slot->state == HW_REQUEST_TAKEN && slot->calls && !slot->is_lent;
}

/* Without the lock. */
static void let_go(struct owner owner)
{
    if (owner.calls)
        owner.calls->freed(owner.attachment);
}

/* Makes the entry what `is` says. */
static void fill(struct hw_request_slot *slot, enum hw_request_kind kind,
                 const struct hw_request_attachment *is)
{
    struct hw_request_changes by = hw_request_no_changes();
    hw_request_change(slot, HW_REQUEST_EMPTY, &by); /* whatever it was counted as */
    slot->kind = (uint8_t)kind;
    slot->bytes = is->bytes;
    slot->number = ++hw_request_last_number;
    slot->is_persistent = is->is_persistent;
    slot->is_followed = is->is_followed;
    slot->is_once = is->is_once;
    slot->is_receive = is->is_receive;
    slot->calls = is->calls;
    slot->attachment = is->attachment;
    hw_request_change(slot, is->is_persistent ? HW_REQUEST_INACTIVE : HW_REQUEST_ACTIVE, &by);
    hw_request_count(&by);
}

static bool enter(MPI_Request request, enum hw_request_kind kind, const struct hw_request_attachment *is)
{
    struct owner old = {0};
    hw_request_lock();
    struct hw_request_slot *slot = hw_request_insert(request);
    if (slot) {
        old = owner_before(slot);
        fill(slot, kind, is);
    }
    hw_request_unlock();
    let_go(old);
    if (slot == NULL && kind == HW_REQUEST_CALLBACK)
        hw_atomic_add_seq_cst(&hw_request_callbacks, 1); /* nobody will tell when it is complete */
    return slot != NULL;
}

bool hw_request_post(MPI_Request request, enum hw_request_kind kind, uint64_t bytes)
{
    const struct hw_request_attachment is = {.bytes = bytes, .is_followed = true};
    return request != HW_REQUEST_NULL && enter(request, kind, &is);
}

void hw_request_define(MPI_Request request, enum hw_request_kind kind, uint64_t bytes)
{
    const struct hw_request_attachment is = {.bytes = bytes, .is_persistent = true, .is_followed = true};
    if (request != HW_REQUEST_NULL)
        enter(request, kind, &is);
}

void hw_request_define_receive(MPI_Request request, uint64_t bytes)
{
    const struct hw_request_attachment is = {
        .bytes = bytes, .is_persistent = true, .is_followed = true, .is_receive = true};
    if (request != HW_REQUEST_NULL)
        enter(request, HW_REQUEST_P2P, &is);
}

bool hw_request_reserve(void)
{
    hw_request_lock();
    bool is_there = hw_request_has_room(1);
    hw_request_reserved += is_there;
    hw_request_unlock();
    return is_there;
}

void hw_request_give_back(void)
{
    hw_request_lock();
    hw_request_reserved--;
    hw_request_unlock();
}

void hw_request_attach(MPI_Request request, const struct hw_request_attachment *attachment)
{
    hw_request_lock();
    hw_request_reserved--;
    struct hw_request_slot *slot = hw_request_insert(request); /* there is room */
    struct owner old = owner_before(slot);
    fill(slot, HW_REQUEST_P2P, attachment);
    hw_request_unlock();
    let_go(old); /* of a request that was completed past us */
}

void hw_request_forget_taken(MPI_Request request)
{
    hw_request_lock();
    struct hw_request_slot *slot = hw_request_find(request);
    if (slot && slot->state == HW_REQUEST_TAKEN && slot->calls)
        hw_request_erase_one(slot); /* its door tells the attachment */
    hw_request_unlock();
}

/* Of one that is to be started. */
static struct owner owner_of_inactive(MPI_Request request)
{
    hw_request_lock();
    struct hw_request_slot *slot = hw_request_find(request);
    struct owner owner = slot && slot->state == HW_REQUEST_INACTIVE ? owner_of(slot) : (struct owner){0};
    hw_request_unlock();
    return owner;
}

bool hw_request_has_start(MPI_Request request)
{
    struct owner owner = owner_of_inactive(request);
    return owner.calls && owner.calls->guard && owner.calls->guard->start;
}

int hw_request_starting(MPI_Request *request)
{
    if (request == NULL || hw_atomic_load_relaxed(&hw_request_attached) == 0)
        return HW_REQUEST_PLAINLY;
    struct owner owner = owner_of_inactive(*request);
    if (owner.calls == NULL)
        return HW_REQUEST_PLAINLY;
    if (owner.calls->starting)
        owner.calls->starting(owner.attachment);
    const struct hw_request_guard *guard = owner.calls->guard;
    return guard && guard->start ? guard->start(owner.attachment, request) : HW_REQUEST_PLAINLY;
}

enum hw_request_abandoning hw_request_abandon(MPI_Request *request)
{
    if (request == NULL || hw_atomic_load_relaxed(&hw_request_attached) == 0)
        return HW_REQUEST_NOT_ATTACHED;
    struct owner owner = {0};
    MPI_Request handle = *request;
    hw_request_lock();
    struct hw_request_slot *slot = hw_request_find(handle);
    if (slot && slot->state >= HW_REQUEST_ACTIVE && slot->calls && !is_held(slot)) {
        owner = owner_of(slot);
        if (!owner.calls->is_collective)
            hw_request_erase_one(slot);
    }
    hw_request_unlock();
    if (owner.calls == NULL)
        return HW_REQUEST_NOT_ATTACHED;
    if (owner.calls->is_collective)
        return HW_REQUEST_REFUSED;
    *request = HW_REQUEST_NULL;
    owner.calls->abandoned(owner.attachment, handle);
    return HW_REQUEST_ABANDONED;
}

enum hw_request_direction hw_request_direction(int count, const MPI_Request *requests, uint64_t *bytes)
{
    int sends = 0, receives = 0;
    *bytes = UINT64_MAX;
    hw_request_touch(count, requests);
    hw_request_lock();
    for (int i = 0; i < count; i++) {
        const struct hw_request_slot *slot = hw_request_find(requests[i]);
        if (!slot || !slot->is_persistent || slot->kind != HW_REQUEST_P2P ||
            slot->state != HW_REQUEST_INACTIVE)
            break;
        sends += !slot->is_receive;
        receives += slot->is_receive && slot->calls == NULL;
        if (slot->bytes < *bytes)
            *bytes = slot->bytes;
    }
    hw_request_unlock();
    if (count <= 0)
        return HW_REQUEST_UNKNOWN;
    return sends == count ? HW_REQUEST_SENDS : receives == count ? HW_REQUEST_RECEIVES : HW_REQUEST_UNKNOWN;
}

bool hw_request_sends_first(int count, const MPI_Request *requests, int order[])
{
    int firsts = 0, receives = 0;
    bool is_before = false; /* a receive, of what is no receive */
    hw_request_touch(count, requests);
    hw_request_lock();
    for (int i = 0; i < count; i++) {
        const struct hw_request_slot *slot = hw_request_find(requests[i]);
        if (slot && slot->is_persistent && slot->is_receive) {
            order[count - ++receives] = i;
        } else {
            order[firsts++] = i;
            is_before |= receives > 0;
        }
    }
    hw_request_unlock();
    for (int low = firsts, high = count - 1; low < high; low++, high--) {
        int swapped = order[low];
        order[low] = order[high];
        order[high] = swapped;
    }
    return is_before;
}

struct hw_request_started hw_request_start(int count, const MPI_Request *requests)
{
    struct hw_request_started started = {.are_receives = true};
    hw_request_touch(count, requests);
    hw_request_lock();
    struct hw_request_changes by = hw_request_no_changes();
    for (int i = 0; i < count; i++) {
        struct hw_request_slot *slot = hw_request_find(requests[i]);
        if (!slot || !slot->is_persistent)
            continue;
        hw_request_change(slot, HW_REQUEST_ACTIVE, &by);
        if (slot->is_followed) {
            started.count++;
            started.bytes += slot->bytes;
            started.are_receives &= slot->is_receive;
        }
    }
    hw_request_count(&by);
    hw_request_unlock();
    return started;
}

/* A callback's door takes it: no engine is told. */
static void stop_following(struct hw_request_slot *slot)
{
    uint8_t state = slot->state;
    hw_request_set_state(slot, HW_REQUEST_INACTIVE);
    slot->is_followed = false;
    hw_request_set_state(slot, state);
}

/* The fields of attachments only where there is one: most of the time goes into writing items. */
static bool remember(struct hw_request_taken *taken, int index, const struct hw_request_slot *slot)
{
    if (taken->count == taken->capacity && !hw_request_items_grow(taken))
        return false;
    struct hw_request_item *item = &taken->items[taken->count++];
    item->index = index;
    item->number = slot->number;
    item->place = (uint32_t)(slot - hw_request_slots);
    item->is_complete = item->is_gone = false;
    item->is_once = slot->is_once;
    item->handle = slot->handle;
    item->calls = slot->calls;
    item->guard = NULL;
    taken->followed += slot->is_followed;
    if (slot->calls == NULL && !slot->is_once)
        return true;
    item->guard = slot->calls ? slot->calls->guard : NULL;
    item->guarded = slot->attachment;
    item->attachment = NULL;
    item->status = NULL;
    item->error = MPI_SUCCESS;
    taken->guarded += item->guard != NULL;
    taken->attached++;
    taken->once += slot->is_once;
    return true;
}

/* The beginning of what a door took: nothing. */
static void take_nothing(struct hw_request_taken *taken, bool takes_over)
{
    taken->count = taken->followed = taken->attached = taken->guarded = taken->once = 0;
    taken->error = MPI_SUCCESS;
    taken->is_short = taken->is_untold = false;
    taken->is_borrowed = !takes_over;
    taken->elsewhere = NULL;
    taken->capacity = (int)(sizeof taken->inline_items / sizeof taken->inline_items[0]);
    taken->items = taken->inline_items;
}

static bool take(int count, const MPI_Request *requests, struct hw_request_taken *taken, bool takes_over)
{
    take_nothing(taken, takes_over);
    if (requests == NULL) /* the MPI says what it thinks of that */
        return false;
    hw_request_touch(count, requests);
    hw_request_lock();
    struct hw_request_changes by = hw_request_no_changes();
    for (int i = 0; i < count; i++) {
        struct hw_request_slot *slot = hw_request_find(requests[i]);
        if (!slot || slot->state < HW_REQUEST_ACTIVE)
            continue;
        if (slot->state == HW_REQUEST_TAKEN && !takes_over) {
            if (slot->calls && slot->calls->guard) {
                taken->elsewhere = slot->calls->guard;
                taken->elsewhere_guarded = slot->attachment;
            }
            continue;
        }
        if (is_held(slot))
            continue;
        if (slot->state == HW_REQUEST_TAKEN)
            slot->number = ++hw_request_last_number; /* what the other door gives back is void */
        slot->is_lent = !takes_over;
        if (remember(taken, i, slot))
            hw_request_change(slot, HW_REQUEST_TAKEN, &by);
        else if (slot->calls || slot->is_once)
            taken->is_short = true;
        else
            hw_request_erase(slot, &by); /* no memory to follow it: untracked from here on, never polled */
    }
    hw_request_count(&by);
    hw_request_unlock();
    return taken->count != 0;
}

bool hw_request_take(int count, const MPI_Request *requests, struct hw_request_taken *taken)
{
    return take(count, requests, taken, true);
}

bool hw_request_borrow(int count, const MPI_Request *requests, struct hw_request_taken *taken)
{
    return take(count, requests, taken, false);
}

/* Under the lock. Forgets the item's attachment, unless it is to be told. True if the request is followed,
 * and pending again. */
static bool give_back(struct hw_request_taken *taken, struct hw_request_item *item, MPI_Request request,
                      struct hw_request_changes *by)
{
    const struct hw_request_calls *calls = item->calls;
    item->calls = NULL;
    struct hw_request_slot *slot = hw_request_find_at(item->place, item->handle);
    /* Whose call completes nothing may see in the array what another door has completed. */
    bool is_complete = item->is_complete || (!taken->is_borrowed && request != item->handle);
    /* Another door took it over, or the MPI gave the handle to another thread's new request. */
    if (!slot || slot->state != HW_REQUEST_TAKEN || slot->number != item->number) {
        if (calls && is_complete && !taken->is_borrowed) {
            item->calls = calls;
            item->attachment = item->guarded;
            item->is_gone = true;
        }
        return false;
    }
    if (!is_complete) {
        bool is_unsure = taken->is_untold && slot->is_persistent && !calls && !slot->is_once;
        hw_request_change(slot, is_unsure ? HW_REQUEST_INACTIVE : HW_REQUEST_ACTIVE, by);
        return slot->is_followed && !is_unsure;
    }
    if (!item->is_complete)
        item->error = taken->error;
    item->calls = calls;
    item->attachment = slot->attachment;
    item->is_gone = !slot->is_persistent || (!taken->is_borrowed && request != item->handle);
    if (taken->is_borrowed && slot->is_once)
        hw_request_change(slot, HW_REQUEST_DONE, by); /* the program still has to complete it */
    else if (item->is_gone)
        hw_request_erase(slot, by);
    else
        hw_request_change(slot, HW_REQUEST_INACTIVE, by);
    return false;
}

int hw_request_return(struct hw_request_taken *taken, const MPI_Request *requests)
{
    int returned = 0;
    hw_request_lock();
    struct hw_request_changes by = hw_request_no_changes();
    for (int i = 0; i < taken->count; i++)
        returned += give_back(taken, &taken->items[i], requests[taken->items[i].index], &by);
    hw_request_count(&by);
    hw_request_unlock();
    if (taken->attached > 0)
        hw_request_tell(taken);
    hw_request_items_free(taken);
    return returned;
}

void hw_request_drop(int count, const MPI_Request *requests)
{
    if (requests)
        hw_request_touch(count, requests);
    for (int i = 0; requests && i < count; i++) {
        struct owner owner = {0};
        hw_request_lock();
        struct hw_request_slot *slot = hw_request_find(requests[i]);
        if (slot && !is_held(slot)) {
            owner = owner_of(slot);
            hw_request_erase_one(slot);
        }
        hw_request_unlock();
        let_go(owner);
    }
}

/* Those that nobody has taken: drops them, or leaves all if one has an attachment. */
static bool forget(int count, const MPI_Request *requests)
{
    bool is_any_attached = false;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < count; i++) {
            struct hw_request_slot *slot = hw_request_find(requests[i]);
            if (!slot || slot->state == HW_REQUEST_TAKEN)
                continue;
            if (pass == 0)
                is_any_attached = is_any_attached || slot->calls || slot->is_once;
            else if (is_any_attached)
                stop_following(slot);
            else
                hw_request_erase_one(slot);
        }
    return is_any_attached;
}

bool hw_request_forget(int count, const MPI_Request *requests)
{
    if (!hw_request_is_any_known() || requests == NULL)
        return false;
    hw_request_touch(count, requests);
    hw_request_lock();
    struct hw_request_changes by = hw_request_no_changes();
    hw_request_look_take(&by);
    hw_request_count(&by);
    bool is_any_attached = forget(count, requests);
    hw_request_unlock();
    return is_any_attached;
}

/* Where MPI_Request_get_status would do harm: MPICH and Intel MPI lose the status of a complete persistent
 * request once it has seen it, and where it raises errors, the error handler of a window is nobody's care
 * (mpi/errors.h). */
static bool must_ask_plainly(const struct hw_request_slot *slot, int how)
{
    return how == HW_REQUEST_ASK_NOT || slot->is_persistent ||
           (HW_REAL_ASKING_RAISES && slot->kind == HW_REQUEST_RMA);
}

/* Some kinds only the program's own thread may ask about: a status call on ROMIO's generalized requests runs
 * its callbacks, and partitions may be marked ready at the same time. */
static bool is_pollable(const struct hw_request_slot *slot, int how)
{
    if (slot->state != HW_REQUEST_ACTIVE || !slot->is_followed || slot->kind == HW_REQUEST_PARTITIONED ||
        slot->kind == HW_REQUEST_IO)
        return false;
    return hw_real_request_is_complete || !must_ask_plainly(slot, how);
}

bool hw_request_choose(int how, MPI_Request *handle, bool *is_plainly)
{
    bool is_found = false;
    hw_request_lock();
    uint32_t count = hw_request_slots ? hw_request_slot_mask + 1 : 0;
    for (uint32_t i = 0; i < count && !is_found; i++) {
        struct hw_request_slot *slot = &hw_request_slots[(poll_cursor + i) & hw_request_slot_mask];
        if (!is_pollable(slot, how)) {
            passed_count++;
            continue;
        }
        poll_cursor = (uint32_t)(slot - hw_request_slots);
        *handle = slot->handle;
        *is_plainly = must_ask_plainly(slot, how);
        is_found = true;
    }
    if (passed_count > count) {
        passed_count = 0;
        hw_request_fit();
    }
    hw_request_unlock();
    return is_found;
}

/* A callback may have forgotten it meanwhile. */
void hw_request_mark_done(MPI_Request handle)
{
    hw_request_lock();
    struct hw_request_slot *slot = hw_request_find(handle);
    if (slot && slot->state == HW_REQUEST_ACTIVE)
        hw_request_set_state(slot, HW_REQUEST_DONE);
    hw_request_unlock();
}

void hw_request_visit(const struct hw_request_calls *calls, void (*visit)(void *attachment, void *context),
                      void *context)
{
    hw_request_lock();
    for (uint32_t i = 0; hw_request_slots && i <= hw_request_slot_mask; i++)
        if (hw_request_slots[i].state != HW_REQUEST_EMPTY && hw_request_slots[i].calls == calls)
            visit(hw_request_slots[i].attachment, context);
    hw_request_unlock();
}

void hw_request_fork_child(void)
{
    hw_request_lock_renew();
    hw_request_forgotten++;
    for (uint32_t i = 0; hw_request_slots && i <= hw_request_slot_mask; i++)
        hw_request_slots[i].state = HW_REQUEST_EMPTY;
    hw_request_reserved = 0;
    hw_atomic_store_seq_cst(&hw_request_known, 0);
    hw_atomic_store_seq_cst(&hw_request_attached, 0);
    hw_atomic_store_relaxed(&hw_request_once, 0);
    hw_atomic_store_seq_cst(&hw_request_pending, 0);
    hw_atomic_store_relaxed(&hw_request_lookers, 0);
    hw_atomic_store_relaxed(&hw_request_pending_bytes, 0);
    hw_atomic_store_seq_cst(&hw_request_outstanding, 0);
    hw_atomic_store_seq_cst(&hw_request_callbacks, 0);
    hw_atomic_store_relaxed(&hw_request_one_sided, 0);
}
