/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/calls/slices.h"

#include "profile/record/lock.h"

enum { SLICE_COUNT = 64, FIRST_SHIFT = 24 }; /* 17 ms at first: a second of run */

static uint64_t began_ns;
static uint64_t slices_ns[SLICE_COUNT];
static unsigned shift = FIRST_SHIFT;

void hw_slices_begin(uint64_t now_ns) { began_ns = now_ns; }

/* Two slices become one. Under lock. */
static void double_length(void)
{
    for (int i = 0; i < SLICE_COUNT; i++)
        slices_ns[i] = i < SLICE_COUNT / 2 ? slices_ns[2 * i] + slices_ns[2 * i + 1] : 0;
    shift++;
}

/* Under lock. */
static void flush(struct hw_slices_share *mine)
{
    if (mine->inside_ns)
        slices_ns[(mine->until_ns - began_ns - 1) >> shift] += mine->inside_ns;
    mine->inside_ns = 0;
}

void hw_slices_enter(struct hw_slices_share *mine, uint64_t end_ns, uint64_t took_ns)
{
    uint64_t end = end_ns - began_ns, at = end > took_ns ? end - took_ns : 0;
    hw_profile_lock();
    while (end >> shift >= SLICE_COUNT)
        double_length();
    flush(mine);
    mine->until_ns = began_ns + (((end >> shift) + 1) << shift);
    while (at < end) {
        uint64_t slice = at >> shift, slice_end = (slice + 1) << shift;
        uint64_t until = end < slice_end ? end : slice_end;
        slices_ns[slice] += until - at;
        at = until;
    }
    hw_profile_unlock();
}

void hw_slices_spread(uint64_t from_ns, uint64_t ended_ns, uint64_t ns)
{
    uint64_t at = from_ns > began_ns ? from_ns - began_ns : 0, end = ended_ns - began_ns;
    double share = end > at ? (double)ns / (double)(end - at) : 0;
    hw_profile_lock();
    while (end >> shift >= SLICE_COUNT)
        double_length();
    while (at < end) {
        uint64_t slice = at >> shift, slice_end = (slice + 1) << shift;
        uint64_t until = end < slice_end ? end : slice_end;
        slices_ns[slice] += (uint64_t)(share * (double)(until - at));
        at = until;
    }
    hw_profile_unlock();
}

void hw_slices_flush(struct hw_slices_share *mine)
{
    hw_profile_lock();
    flush(mine);
    hw_profile_unlock();
}

static void write_slices(struct hw_record_list *list, const void *count)
{
    bool is_locked = hw_profile_lock_to_read();
    for (uint64_t i = 0; i < *(const uint64_t *)count; i++)
        hw_record_add_integer(list, slices_ns[i]);
    hw_profile_unlock_read(is_locked);
}

const struct hw_record_slices *hw_slices_describe(uint64_t now_ns)
{
    static struct hw_record_slices told;
    static uint64_t count;
    bool is_locked = hw_profile_lock_to_read();
    uint64_t last = (now_ns - began_ns) >> shift;
    count = last < SLICE_COUNT ? last + 1 : SLICE_COUNT;
    told = (struct hw_record_slices){.length_ns = 1ULL << shift, .mpi_ns = {write_slices, &count}};
    hw_profile_unlock_read(is_locked);
    return &told;
}
