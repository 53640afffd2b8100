/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/calls/phases.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "base/visibility.h"
#include "profile/calls/calls.h"
#include "profile/record/counters.h"
#include "profile/record/lock.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/* What a phase is the difference of. */
struct figures {
#define FIGURE_FIELD(name, meaning) uint64_t name;
    HW_RECORD_PHASE_COUNTERS(FIGURE_FIELD)
#undef FIGURE_FIELD
};

struct phase {
    char name[HW_PHASE_NAME_BYTES];
    uint64_t count;
    unsigned open_count; /* how often it is on the stack: only the outermost counts time */
    struct figures sum;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
HW_SPARSE static struct phase phases[HW_PHASE_NAME_COUNT];
static int phase_count;
static struct {
    struct phase *phase;
    struct figures begin;
} stack[HW_PHASE_DEPTH];
static int depth;

static struct figures read_figures(void)
{
    return (struct figures){
        .wall_ns = hw_clock_now_ns(),
        .tracked = hw_counters_tracked(),
        .blocked_ns = hw_atomic_load_seq_cst(&hw_counters.blocked_ns),
        .overlapped_ns = hw_atomic_load_seq_cst(&hw_counters.overlapped_ns),
        .mpi_ns = hw_profile_mpi_ns(),
    };
}

/* The phase of this name, made if it is new; NULL if there is no room for it. Under lock. */
static struct phase *find(const char *name)
{
    char wanted[HW_PHASE_NAME_BYTES];
    hw_record_copy_name(wanted, sizeof wanted, name);
    for (int i = 0; i < phase_count; i++)
        if (strcmp(phases[i].name, wanted) == 0)
            return &phases[i];
    if (phase_count == HW_PHASE_NAME_COUNT)
        return NULL;
    memcpy(phases[phase_count].name, wanted, sizeof wanted);
    return &phases[phase_count++];
}

enum hw_phase_result hw_phase_begin(const char *name)
{
    if (!name || !*name)
        return HW_PHASE_MISUSE;
    enum hw_phase_result result = HW_PHASE_FULL;
    pthread_mutex_lock(&lock);
    struct phase *phase = depth < HW_PHASE_DEPTH ? find(name) : NULL;
    if (phase) {
        phase->count++;
        phase->open_count++;
        stack[depth].phase = phase;
        stack[depth++].begin = read_figures();
        result = HW_PHASE_OK;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* What was counted from one moment to another. */
static void add_between(struct figures *sum, const struct figures *begin, const struct figures *end)
{
#define ADD_FIGURE(name, meaning) sum->name += end->name - begin->name;
    HW_RECORD_PHASE_COUNTERS(ADD_FIGURE)
#undef ADD_FIGURE
}

/* Under lock. */
static void end_last(void)
{
    struct phase *phase = stack[--depth].phase;
    if (--phase->open_count > 0)
        return;
    struct figures now = read_figures();
    add_between(&phase->sum, &stack[depth].begin, &now);
}

enum hw_phase_result hw_phase_end(void)
{
    pthread_mutex_lock(&lock);
    bool is_open = depth > 0;
    if (is_open)
        end_last();
    pthread_mutex_unlock(&lock);
    return is_open ? HW_PHASE_OK : HW_PHASE_MISUSE;
}

enum hw_phase_result hw_phase_end_if(const char *name)
{
    pthread_mutex_lock(&lock);
    bool is_last = depth > 0 && strcmp(stack[depth - 1].phase->name, name) == 0;
    if (is_last)
        end_last();
    pthread_mutex_unlock(&lock);
    return is_last ? HW_PHASE_OK : HW_PHASE_MISUSE;
}

/* A phase, with what is open of it as if it ended now. */
static struct figures figures_of(const struct phase *phase, const struct figures *now)
{
    struct figures sum = phase->sum;
    for (int i = 0; i < depth && phase->open_count > 0; i++)
        if (stack[i].phase == phase) { /* the outermost */
            add_between(&sum, &stack[i].begin, now);
            break;
        }
    return sum;
}

static void write_phases(struct hw_record_list *list, const void *unused)
{
    (void)unused;
    struct figures now = read_figures();
    bool is_locked = hw_profile_lock_of_to_read(&lock);
    for (int i = 0; i < phase_count; i++) {
        struct figures sum = figures_of(&phases[i], &now);
        struct hw_record_phase one = {.name = phases[i].name, .count = phases[i].count};
#define COPY_FIGURE(name, meaning) one.name = sum.name;
        HW_RECORD_PHASE_COUNTERS(COPY_FIGURE)
#undef COPY_FIGURE
        hw_record_add_phase(list, &one);
    }
    hw_profile_unlock_of_read(&lock, is_locked);
}

struct hw_record_part hw_phase_describe(void)
{
    bool is_locked = hw_profile_lock_of_to_read(&lock), is_any = phase_count > 0;
    hw_profile_unlock_of_read(&lock, is_locked);
    return (struct hw_record_part){is_any ? write_phases : NULL, NULL};
}
