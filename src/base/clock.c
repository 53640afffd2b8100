/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/clock.h"

#include "base/atomic.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

struct hw_clock_scale hw_clock_scale;

/* Two readings so far apart that what they are uncertain by, some 20 ns each, is less than a millionth. */
#define APART_NS (50 * HW_NS_PER_MS)
enum { TRY_COUNT = 8 };

/* A moment on both clocks: the counter was read between two readings of the other. */
struct moment {
    uint64_t before_ns, ticks, after_ns;
};

static struct moment first;
static bool is_usable;

/* The counter runs at one rate, whatever the core does (CPUID 80000007H, EDX bit 8). */
static bool is_invariant(void)
{
#if defined(__x86_64__)
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid(0x80000007U, &eax, &ebx, &ecx, &edx) && (edx & 1U << 8);
#else
    return false;
#endif
}

/* The kernel compares the cores' counters with each other and with other clocks, and takes another clock if
 * they do not agree. */
static bool is_trusted_by_kernel(void)
{
    int mode = PR_TSC_ENABLE; /* a process may have been forbidden to read it */
    if (prctl(PR_GET_TSC, &mode) == 0 && mode != PR_TSC_ENABLE)
        return false;
    char name[8] = "";
    int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t length = read(file, name, sizeof name - 1);
    close(file);
    return length == 4 && memcmp(name, "tsc\n", 4) == 0;
}

/* The closest of some tries: an interrupt may come between. */
static struct moment read_moment(void)
{
    struct moment best = {.after_ns = UINT64_MAX};
    for (int i = 0; i < TRY_COUNT; i++) {
        struct moment one = {.before_ns = hw_clock_now_ns()};
        one.ticks = hw_clock_ticks();
        one.after_ns = hw_clock_now_ns();
        if (one.after_ns - one.before_ns < best.after_ns - best.before_ns)
            best = one;
    }
    return best;
}

void hw_clock_fast_begin(void)
{
    is_usable = is_invariant() && is_trusted_by_kernel();
    if (is_usable)
        first = read_moment();
}

bool hw_clock_fast_settle(void)
{
    if (!is_usable || hw_atomic_load_relaxed(&hw_clock_scale.is_known))
        return true;
    if (hw_clock_now_ns() - first.after_ns < APART_NS)
        return false;
    struct moment second = read_moment();
    uint64_t ns = (second.before_ns + second.after_ns) / 2 - (first.before_ns + first.after_ns) / 2;
    if (second.ticks <= first.ticks) {
        is_usable = false;
        return true;
    }
    hw_clock_scale.ns_per_tick = (int64_t)(((unsigned __int128)ns << 32) / (second.ticks - first.ticks));
    hw_clock_scale.ticks = second.ticks;
    /* Not the middle: a reading of CLOCK_MONOTONIC by then must not be later than the first of these. */
    hw_clock_scale.ns = second.after_ns;
    hw_atomic_store_release(&hw_clock_scale.is_known, true);
    return true;
}
