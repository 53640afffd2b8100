#include "profile/slices.h"

#include <pthread.h>

enum { SLICE_COUNT = 64, FIRST_SHIFT = 24 }; /* 17 ms at first: a second of run */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t began_ns;
static uint64_t slices_ns[SLICE_COUNT];
static unsigned shift = FIRST_SHIFT;

/* What a thread has spent in MPI in the slice it is in; added to it when the thread is in another. */
static _Thread_local struct {
    uint64_t until_ns; /* the slice ends here; 0: none yet */
    uint64_t inside_ns;
} mine __attribute__((tls_model("initial-exec")));

void hw_slices_begin(uint64_t now_ns) { began_ns = now_ns; }

/* Two slices become one. Under lock. */
static void double_length(void)
{
    for (int i = 0; i < SLICE_COUNT; i++)
        slices_ns[i] = i < SLICE_COUNT / 2 ? slices_ns[2 * i] + slices_ns[2 * i + 1] : 0;
    shift++;
}

void hw_slices_add(uint64_t end_ns, uint64_t took_ns)
{
    if (end_ns < mine.until_ns) {
        mine.inside_ns += took_ns;
        return;
    }
    uint64_t end = end_ns - began_ns, at = end > took_ns ? end - took_ns : 0;
    pthread_mutex_lock(&lock);
    while (end >> shift >= SLICE_COUNT)
        double_length();
    if (mine.inside_ns)
        slices_ns[(mine.until_ns - began_ns - 1) >> shift] += mine.inside_ns;
    mine.inside_ns = 0;
    mine.until_ns = began_ns + (((end >> shift) + 1) << shift);
    while (at < end) {
        uint64_t slice = at >> shift, slice_end = (slice + 1) << shift;
        uint64_t until = end < slice_end ? end : slice_end;
        slices_ns[slice] += until - at;
        at = until;
    }
    pthread_mutex_unlock(&lock);
}

void hw_slices_write(FILE *file, uint64_t now_ns)
{
    pthread_mutex_lock(&lock);
    if (mine.inside_ns)
        slices_ns[(mine.until_ns - began_ns - 1) >> shift] += mine.inside_ns;
    mine.inside_ns = 0;
    fprintf(file, "{\"length_ns\": %llu, \"mpi_ns\": [", 1ULL << shift);
    uint64_t last = (now_ns - began_ns) >> shift;
    for (uint64_t i = 0; i <= last && i < SLICE_COUNT; i++)
        fprintf(file, "%s%llu", i ? ", " : "", (unsigned long long)slices_ns[i]);
    fputs("]}", file);
    pthread_mutex_unlock(&lock);
}
