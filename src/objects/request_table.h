/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the pending tracker: open addressing by handle. All of it under the tracker's lock. */
#ifndef HW_OBJECTS_REQUEST_TABLE_H
#define HW_OBJECTS_REQUEST_TABLE_H

#include "base/visibility.h"
#include "objects/request.h"

enum hw_request_state {
    HW_REQUEST_EMPTY,
    HW_REQUEST_INACTIVE,
    HW_REQUEST_ACTIVE,
    HW_REQUEST_DONE,
    HW_REQUEST_TAKEN
};

struct hw_request_slot {
    MPI_Request handle;
    uint64_t bytes;
    uint64_t number; /* of its post, or its door: the MPI gives handles out again */
    uint8_t state;
    uint8_t kind;
    bool is_persistent;
    bool is_followed;                     /* by the progress thread; else known for its attachment */
    bool is_lent;                         /* TAKEN by hw_request_borrow */
    bool is_once;                         /* persistent for the MPI, for the program not */
    bool is_receive;                      /* of persistent ones; false: not known */
    const struct hw_request_calls *calls; /* of its attachment; NULL: it has none */
    void *attachment;
};

extern HW_HIDDEN struct hw_request_slot *hw_request_slots; /* mask + 1 of them; at most half are in use */
extern HW_HIDDEN uint32_t hw_request_slot_mask;
extern HW_HIDDEN uint32_t hw_request_reserved;    /* entries to come */
extern HW_HIDDEN uint64_t hw_request_last_number; /* a long run posts more than 2^32 */
extern HW_HIDDEN atomic_uint hw_request_once;     /* known ones that are */
/* How often all was forgotten, in a child of fork(2): also in one of a handler's of a signal that came while
 * the thread was at the lock. */
extern HW_HIDDEN volatile uint32_t hw_request_forgotten;

static inline uint32_t hw_request_hash(MPI_Request handle)
{
    return (uint32_t)(((uint64_t)(uintptr_t)handle * UINT64_C(0x9E3779B97F4A7C15)) >> 32) &
           hw_request_slot_mask;
}

/* NULL: it is not known, or no request. */
static inline struct hw_request_slot *hw_request_find(MPI_Request handle)
{
    if (!hw_request_slots || handle == HW_REQUEST_NULL)
        return NULL;
    for (uint32_t i = hw_request_hash(handle); hw_request_slots[i].state != HW_REQUEST_EMPTY;
         i = (i + 1) & hw_request_slot_mask)
        if (hw_request_slots[i].handle == handle)
            return &hw_request_slots[i];
    return NULL;
}

/* The same of an entry that was at `place`, where it still is but after others have moved. */
static inline struct hw_request_slot *hw_request_find_at(uint32_t place, MPI_Request handle)
{
    if (hw_request_slots && place <= hw_request_slot_mask) {
        struct hw_request_slot *slot = &hw_request_slots[place];
        if (slot->handle == handle && slot->state != HW_REQUEST_EMPTY)
            return slot;
    }
    return hw_request_find(handle);
}

/* A handle that cannot be read ends the program outside our lock: its handler of the signal may fork. */
static inline void hw_request_touch(int count, const MPI_Request *requests)
{
    enum { PAGE_HANDLES = 4096 / sizeof *requests };
    const volatile MPI_Request *handles = requests;
    for (int i = 0; i < count; i += PAGE_HANDLES)
        (void)handles[i];
    if (count > 0)
        (void)handles[count - 1];
}

/* What the counters change by, modulo as they are. A door changes many states and each counter once: a locked
 * addition for each request would take longer than all the rest. */
struct hw_request_changes {
    unsigned known, attached, once, pending, outstanding, callbacks, one_sided;
    uint64_t pending_bytes;
    uint32_t forgotten; /* at the beginning */
};

static inline struct hw_request_changes hw_request_no_changes(void)
{
    return (struct hw_request_changes){.forgotten = hw_request_forgotten};
}

/* Every change of a state goes through here, so the counters cannot drift. hw_request_count must follow,
 * before the lock is given back. */
static inline void hw_request_change(struct hw_request_slot *slot, uint8_t state,
                                     struct hw_request_changes *by)
{
    unsigned known = (state != HW_REQUEST_EMPTY) - (slot->state != HW_REQUEST_EMPTY);
    by->known += known;
    by->attached += slot->calls ? known : 0;
    by->once += slot->is_once ? known : 0;
    if (slot->is_followed) {
        int pending = (state == HW_REQUEST_ACTIVE) - (slot->state == HW_REQUEST_ACTIVE);
        int outstanding = (state >= HW_REQUEST_ACTIVE) - (slot->state >= HW_REQUEST_ACTIVE);
        by->pending += (unsigned)pending;
        by->pending_bytes += (uint64_t)pending * slot->bytes;
        by->outstanding += (unsigned)outstanding;
        by->callbacks += slot->kind == HW_REQUEST_CALLBACK ? (unsigned)outstanding : 0;
        by->one_sided += slot->kind == HW_REQUEST_RMA ? (unsigned)outstanding : 0;
    }
    slot->state = state;
}

/* Does nothing if all has been forgotten since. */
void hw_request_count(const struct hw_request_changes *by);

/* Both, of one. */
void hw_request_set_state(struct hw_request_slot *slot, uint8_t state);

/* An entry for the handle, new or (a handle the MPI has used again, completed past us) taken over; NULL: no
 * memory. A poll finds its entry by handle again, so the table may move under it. */
struct hw_request_slot *hw_request_insert(MPI_Request handle);

/* Removes an entry; others may move. */
void hw_request_erase(struct hw_request_slot *slot, struct hw_request_changes *by);
void hw_request_erase_one(struct hw_request_slot *slot);

/* For so many more entries beside the reserved ones. */
bool hw_request_has_room(unsigned count);

/* Gives up what a burst of requests has left empty, if that is most of the table. Takes as long as a look at
 * all of it. */
void hw_request_fit(void);

#endif
