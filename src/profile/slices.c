#include "profile/slices.h"

#include "profile/lock.h"

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

void hw_slices_flush(struct hw_slices_share *mine)
{
    hw_profile_lock();
    flush(mine);
    hw_profile_unlock();
}

void hw_slices_write(FILE *file, uint64_t now_ns)
{
    hw_profile_lock();
    fprintf(file, "{\"length_ns\": %llu, \"mpi_ns\": [", 1ULL << shift);
    uint64_t last = (now_ns - began_ns) >> shift;
    for (uint64_t i = 0; i <= last && i < SLICE_COUNT; i++)
        fprintf(file, "%s%llu", i ? ", " : "", (unsigned long long)slices_ns[i]);
    fputs("]}", file);
    hw_profile_unlock();
}
