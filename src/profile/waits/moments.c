/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/waits/moments.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "profile/record/lock.h"

#include <stdlib.h>

enum { MAX_LEVEL = 38 };

struct moment {
    uint64_t posted_ns, began_ns, ended_ns; /* CLOCK_MONOTONIC */
    enum kind { GAP, ONE_SIDED, AWAITED, HELD } kind;
    /* The site after a gap, the entry of a one-sided wait, the exchange of another, whose lock was held. */
    unsigned of;
};

struct meeting {
    uint64_t number, began_ns, ended_ns;
};

static struct {
    struct moment moments[HW_MOMENT_COUNT];
    struct meeting meetings[HW_MEETING_COUNT];
} * kept;
static int moment_count, meeting_count;
static unsigned level;              /* one slot of 2^level is kept */
static uint64_t meeting_stride = 1; /* and one meeting of so many */

atomic_bool hw_moments_are_kept;
static atomic_uint_fast64_t met_count; /* of the whole run; the thread that meets writes */

void hw_moments_begin(void)
{
    if (!kept)
        kept = calloc(1, sizeof *kept); /* pages that are never touched take no memory */
    hw_atomic_store_release(&hw_moments_are_kept, kept != NULL);
}

static uint64_t monotonic_of(uint64_t fast_ns)
{
    /* Both clocks run alike but for some microseconds a second, and this was just now. */
    return hw_atomic_load_acquire(&hw_clock_scale.is_known)
               ? fast_ns + (hw_clock_now_ns() - hw_clock_fast_ns())
               : fast_ns;
}

static bool is_in_kept_slot(const struct moment *moment)
{
    uint64_t first = moment->posted_ns / HW_MOMENT_SLOT_NS, last = moment->ended_ns / HW_MOMENT_SLOT_NS;
    uint64_t next = (first + (UINT64_C(1) << level) - 1) >> level << level;
    return next <= last;
}

static void give_up_every_other_slot(void)
{
    int left = 0;
    level++;
    for (int i = 0; i < moment_count; i++)
        if (is_in_kept_slot(&kept->moments[i]))
            kept->moments[left++] = kept->moments[i];
    moment_count = left;
}

static void keep(const struct moment *moment)
{
    while (moment_count == HW_MOMENT_COUNT && level < MAX_LEVEL)
        give_up_every_other_slot();
    if (moment_count < HW_MOMENT_COUNT && is_in_kept_slot(moment))
        kept->moments[moment_count++] = *moment;
}

void hw_moments_gap(uint64_t began_ns, uint64_t ended_ns, unsigned site)
{
    if (!hw_atomic_load_relaxed(&hw_moments_are_kept))
        return;
    uint64_t ended = monotonic_of(ended_ns), began = ended - (ended_ns - began_ns);
    keep(&(struct moment){began, began, ended, GAP, site});
}

void hw_moments_wait(uint64_t posted_ns, uint64_t began_ns, uint64_t ended_ns, int entry)
{
    if (!hw_atomic_load_relaxed(&hw_moments_are_kept))
        return;
    uint64_t ended = monotonic_of(ended_ns);
    keep(&(struct moment){ended - (ended_ns - posted_ns), ended - (ended_ns - began_ns), ended, ONE_SIDED,
                          (unsigned)entry});
}

void hw_moments_await(uint64_t began_ns, uint64_t ended_ns, int exchange)
{
    if (!hw_atomic_load_relaxed(&hw_moments_are_kept))
        return;
    uint64_t ended = monotonic_of(ended_ns), began = ended - (ended_ns - began_ns);
    keep(&(struct moment){began, began, ended, AWAITED, (unsigned)exchange});
}

void hw_moments_hold(uint64_t began_ns, uint64_t ended_ns, unsigned target)
{
    if (!hw_atomic_load_relaxed(&hw_moments_are_kept))
        return;
    uint64_t ended = monotonic_of(ended_ns), began = ended - (ended_ns - began_ns);
    keep(&(struct moment){began, began, ended, HELD, target});
}

static void keep_meeting(const struct meeting *meeting)
{
    if (meeting_count == HW_MEETING_COUNT) {
        int left = 0;
        meeting_stride *= 2;
        for (int i = 0; i < meeting_count; i++)
            if (kept->meetings[i].number % meeting_stride == 0)
                kept->meetings[left++] = kept->meetings[i];
        meeting_count = left;
    }
    if (meeting->number % meeting_stride == 0)
        kept->meetings[meeting_count++] = *meeting;
}

void hw_moments_meet(uint64_t began_ns, uint64_t ended_ns)
{
    uint64_t number = hw_atomic_load_relaxed(&met_count);
    hw_atomic_store_relaxed(&met_count, number + 1);
    if (!hw_atomic_load_relaxed(&hw_moments_are_kept) || number % meeting_stride)
        return;
    hw_profile_lock();
    uint64_t ended = monotonic_of(ended_ns);
    keep_meeting(&(struct meeting){number, ended - (ended_ns - began_ns), ended});
    hw_profile_unlock();
}

/* For the record: false past the last. */
static bool copy_moment(int i, struct moment *to)
{
    bool is_locked = hw_profile_lock_to_read(), is_there = i < moment_count;
    if (is_there)
        *to = kept->moments[i];
    hw_profile_unlock_read(is_locked);
    return is_there;
}

static bool copy_meeting(int i, struct meeting *to)
{
    bool is_locked = hw_profile_lock_to_read(), is_there = i < meeting_count;
    if (is_there)
        *to = kept->meetings[i];
    hw_profile_unlock_read(is_locked);
    return is_there;
}

static void write_outside(struct hw_record_list *list, const void *unused)
{
    (void)unused;
    struct moment one;
    for (int i = 0; copy_moment(i, &one); i++)
        if (one.kind == GAP)
            hw_record_add_outside(
                list, &(struct hw_record_outside){one.began_ns, one.ended_ns - one.began_ns, one.of});
}

static void write_waits(struct hw_record_list *list, const void *unused)
{
    (void)unused;
    struct moment one;
    for (int i = 0; copy_moment(i, &one); i++)
        if (one.kind == ONE_SIDED)
            hw_record_add_moment(list, &(struct hw_record_moment){one.began_ns, one.ended_ns - one.began_ns,
                                                                  one.of, one.began_ns - one.posted_ns});
}

static void write_meetings(struct hw_record_list *list, const void *unused)
{
    (void)unused;
    struct meeting one;
    for (int i = 0; copy_meeting(i, &one); i++)
        hw_record_add_meeting(
            list, &(struct hw_record_meeting){one.number, one.began_ns, one.ended_ns - one.began_ns});
}

static void write_awaited(struct hw_record_list *list, const void *unused)
{
    (void)unused;
    struct moment one;
    for (int i = 0; copy_moment(i, &one); i++)
        if (one.kind == AWAITED)
            hw_record_add_awaited(
                list, &(struct hw_record_awaited){one.began_ns, one.ended_ns - one.began_ns, one.of});
}

static void write_held(struct hw_record_list *list, const void *unused)
{
    (void)unused;
    struct moment one;
    for (int i = 0; copy_moment(i, &one); i++)
        if (one.kind == HELD)
            hw_record_add_held(list,
                               &(struct hw_record_held){one.began_ns, one.ended_ns - one.began_ns, one.of});
}

const struct hw_record_moments *hw_moments_describe(int thread_count)
{
    static struct hw_record_sample sample;
    static struct hw_record_moments told;
    if (!hw_atomic_load_relaxed(&hw_moments_are_kept))
        return NULL;
    sample = (struct hw_record_sample){.slot_ns = HW_MOMENT_SLOT_NS,
                                       .one_in = 1ULL << level,
                                       .outside = {write_outside, NULL},
                                       .waits = {write_waits, NULL},
                                       .awaited = {write_awaited, NULL},
                                       .held = {write_held, NULL}};
    told = (struct hw_record_moments){
        .threads = (uint64_t)thread_count,
        .realtime_ns = (int64_t)(hw_clock_read(CLOCK_REALTIME) - hw_clock_now_ns()),
        .sample = &sample,
        .meetings = {write_meetings, NULL},
    };
    return &told;
}
