/* SPDX-License-Identifier: BSD-3-Clause */
#include "objects/request_table.h"

#include "base/atomic.h"

#include <stdlib.h>

/* A table is rebuilt smaller only where it is at least so many times as long as it need be. */
enum { INITIAL_SLOT_COUNT = 64, SPARSE = 4 };

atomic_uint hw_request_known;
atomic_uint hw_request_attached;
atomic_uint hw_request_pending;
atomic_uint hw_request_outstanding;
atomic_uint_fast64_t hw_request_pending_bytes;
atomic_uint hw_request_callbacks;
atomic_uint hw_request_one_sided;
atomic_uint hw_request_once;

struct hw_request_slot *hw_request_slots;
uint32_t hw_request_slot_mask;
uint32_t hw_request_reserved;
uint64_t hw_request_last_number;
volatile uint32_t hw_request_forgotten;

void hw_request_count(const struct hw_request_changes *by)
{
    if (by->forgotten != hw_request_forgotten)
        return;
    if (by->known)
        hw_atomic_add_relaxed(&hw_request_known, by->known);
    if (by->attached)
        hw_atomic_add_relaxed(&hw_request_attached, by->attached);
    if (by->once)
        hw_atomic_add_relaxed(&hw_request_once, by->once);
    if (by->pending)
        hw_atomic_add_seq_cst(&hw_request_pending, by->pending);
    if (by->pending_bytes)
        hw_atomic_add_relaxed(&hw_request_pending_bytes, by->pending_bytes);
    if (by->outstanding)
        hw_atomic_add_seq_cst(&hw_request_outstanding, by->outstanding);
    if (by->callbacks)
        hw_atomic_add_seq_cst(&hw_request_callbacks, by->callbacks);
    if (by->one_sided)
        hw_atomic_add_relaxed(&hw_request_one_sided, by->one_sided);
}

void hw_request_set_state(struct hw_request_slot *slot, uint8_t state)
{
    struct hw_request_changes by = hw_request_no_changes();
    hw_request_change(slot, state, &by);
    hw_request_count(&by);
}

/* Closes the gap: later entries of the same probe run move up. */
void hw_request_erase(struct hw_request_slot *slot, struct hw_request_changes *by)
{
    uint32_t hole = (uint32_t)(slot - hw_request_slots);
    hw_request_change(slot, HW_REQUEST_EMPTY, by);
    for (uint32_t i = (hole + 1) & hw_request_slot_mask; hw_request_slots[i].state != HW_REQUEST_EMPTY;
         i = (i + 1) & hw_request_slot_mask) {
        uint32_t home = hw_request_hash(hw_request_slots[i].handle);
        if (((i - home) & hw_request_slot_mask) >= ((i - hole) & hw_request_slot_mask)) {
            hw_request_slots[hole] = hw_request_slots[i];
            hw_request_slots[i].state = HW_REQUEST_EMPTY; /* moved, not gone: the counters stay */
            hole = i;
        }
    }
}

void hw_request_erase_one(struct hw_request_slot *slot)
{
    struct hw_request_changes by = hw_request_no_changes();
    hw_request_erase(slot, &by);
    hw_request_count(&by);
}

static uint32_t slot_count(void) { return hw_request_slots ? hw_request_slot_mask + 1 : 0; }

/* False: no memory, and nothing was done. */
static bool rebuild(uint32_t new_count)
{
    struct hw_request_slot *new_slots = calloc(new_count, sizeof *new_slots);
    if (!new_slots)
        return false;
    struct hw_request_slot *old_slots = hw_request_slots;
    uint32_t old_count = slot_count();
    if (new_count < old_count)
        hw_request_slot_mask = new_count - 1;
    hw_atomic_compiler_fence(); /* a child of a handler's, in between, forgets no more than there is */
    hw_request_slots = new_slots;
    hw_atomic_compiler_fence();
    hw_request_slot_mask = new_count - 1;
    for (uint32_t i = 0; i < old_count; i++) {
        if (old_slots[i].state == HW_REQUEST_EMPTY)
            continue;
        uint32_t j = hw_request_hash(old_slots[i].handle);
        while (hw_request_slots[j].state != HW_REQUEST_EMPTY)
            j = (j + 1) & hw_request_slot_mask;
        hw_request_slots[j] = old_slots[i];
    }
    free(old_slots);
    return true;
}

bool hw_request_has_room(unsigned count)
{
    unsigned known = hw_atomic_load_relaxed(&hw_request_known) + hw_request_reserved + count;
    return 2 * known <= slot_count() || rebuild(hw_request_slots ? 2 * slot_count() : INITIAL_SLOT_COUNT);
}

/* Half of what the next burst needs is left free, so that a few more entries do not make it grow again. */
void hw_request_fit(void)
{
    uint32_t known = hw_atomic_load_relaxed(&hw_request_known) + hw_request_reserved;
    uint32_t wanted = INITIAL_SLOT_COUNT;
    while (wanted < 4 * known)
        wanted *= 2;
    if (slot_count() >= SPARSE * wanted)
        rebuild(wanted);
}

struct hw_request_slot *hw_request_insert(MPI_Request handle)
{
    struct hw_request_slot *slot = hw_request_find(handle);
    if (slot)
        return slot;
    if (!hw_request_has_room(1))
        return NULL;
    uint32_t i = hw_request_hash(handle);
    while (hw_request_slots[i].state != HW_REQUEST_EMPTY)
        i = (i + 1) & hw_request_slot_mask;
    hw_request_slots[i].handle = handle;
    return &hw_request_slots[i];
}
