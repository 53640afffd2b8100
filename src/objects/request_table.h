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
    uint32_t number; /* of its post, or its door: the MPI gives handles out again */
    uint8_t state;
    uint8_t kind;
    bool is_persistent;
    bool is_followed;                     /* by the progress thread; else known for its attachment */
    bool is_lent;                         /* TAKEN by hw_request_borrow */
    bool is_once;                         /* persistent for the MPI, for the program not */
    const struct hw_request_calls *calls; /* of its attachment; NULL: it has none */
    void *attachment;
};

extern HW_HIDDEN struct hw_request_slot *hw_request_slots; /* mask + 1 of them; at most half are in use */
extern HW_HIDDEN uint32_t hw_request_slot_mask;
extern HW_HIDDEN uint32_t hw_request_reserved; /* entries to come */

static inline uint32_t hw_request_hash(MPI_Request handle)
{
    return (uint32_t)(((uint64_t)(uintptr_t)handle * UINT64_C(0x9E3779B97F4A7C15)) >> 32) &
           hw_request_slot_mask;
}

static inline struct hw_request_slot *hw_request_find(MPI_Request handle)
{
    if (!hw_request_slots)
        return NULL;
    for (uint32_t i = hw_request_hash(handle); hw_request_slots[i].state != HW_REQUEST_EMPTY;
         i = (i + 1) & hw_request_slot_mask)
        if (hw_request_slots[i].handle == handle)
            return &hw_request_slots[i];
    return NULL;
}

/* Every change of a state goes through here, so the counters cannot drift. */
void hw_request_set_state(struct hw_request_slot *slot, uint8_t state);

/* An entry for the handle, new or (a handle the MPI has used again, completed past us) taken over; NULL: no
 * memory. A poll finds its entry by handle again, so the table may move under it. */
struct hw_request_slot *hw_request_insert(MPI_Request handle);

/* Removes an entry; others may move. */
void hw_request_erase(struct hw_request_slot *slot);

/* For so many more entries beside the reserved ones. */
bool hw_request_has_room(unsigned count);

#endif
