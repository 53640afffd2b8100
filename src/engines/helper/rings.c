/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/helper/rings.h"

#include "base/clock.h"
#include "engines/helper/helper.h"
#include "ghost/registry.h"
#include "profile/record/counters.h"
#include "progress/helped.h"
#include "real/constants.h"
#include "world/world.h"

#include <pthread.h>
#include <stdlib.h>

/* Sooner than a thread can be woken; and how often in a row. */
#define QUICK_NS (8 * HW_NS_PER_US)
enum { QUICK_ENOUGH = 16 };

/* Of longer operations MPIs move more than one message. */
enum { LONG_BYTES = 8192 };

enum { WINDOWS = 16, TARGETS = 16 };

/* What is known of a window; a window too many takes the place of another, and is learnt anew. */
static struct known {
    MPI_Win win;
    int size;
    int *processes; /* by rank in the window: ranks in hw_world.all, or HW_UNDEFINED; NULL: free */
    int quick_count;
    int target_count;
    struct target {
        int rank;
        bool is_long;
    } targets[TARGETS]; /* of operations since the last wait */
} windows[WINDOWS];
static unsigned next_place;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that */

static int *find_processes(MPI_Win win, int *size)
{
    MPI_Group group = HW_GROUP_NULL, world = HW_GROUP_NULL;
    int *processes = NULL, *ranks = NULL;
    if (hw_bottom.Win_get_group(win, &group) == MPI_SUCCESS &&
        hw_bottom.Group_size(group, size) == MPI_SUCCESS &&
        hw_bottom.Comm_group(hw_world.all, &world) == MPI_SUCCESS) {
        processes = calloc((size_t)*size, sizeof *processes);
        ranks = calloc((size_t)*size, sizeof *ranks);
    }
    for (int i = 0; ranks && i < *size; i++)
        ranks[i] = i;
    if (processes && ranks &&
        hw_bottom.Group_translate_ranks(group, *size, ranks, world, processes) != MPI_SUCCESS) {
        free(processes);
        processes = NULL;
    }
    free(ranks);
    if (group != HW_GROUP_NULL)
        hw_bottom.Group_free(&group);
    if (world != HW_GROUP_NULL)
        hw_bottom.Group_free(&world);
    return processes;
}

/* NULL: no memory, no window, or the helper is not listened to. Of no window the MPI is not asked: it would
 * tell the program's error handler, which hears of the program's own call. */
static struct known *find(MPI_Win win)
{
    if (win == HW_WIN_NULL || !hw_helped_is_wanted())
        return NULL;
    for (int i = 0; i < WINDOWS; i++)
        if (windows[i].processes && windows[i].win == win)
            return &windows[i];
    int size = 0, *processes = find_processes(win, &size);
    if (processes == NULL)
        return NULL;
    struct known *known = &windows[next_place++ % WINDOWS];
    free(known->processes);
    *known = (struct known){.win = win, .size = size, .processes = processes};
    return known;
}

static bool is_remote(const struct known *known, int rank)
{
    return rank >= 0 && rank < known->size && known->processes[rank] != HW_UNDEFINED &&
           known->processes[rank] != hw_world.rank &&
           hw_world.processes[known->processes[rank]].user_rank >= 0;
}

static void ring(const struct known *known, const struct target *target)
{
    if (!is_remote(known, target->rank) || known->quick_count >= QUICK_ENOUGH)
        return;
    int process = known->processes[target->rank];
    if (hw_world.processes[process].node == hw_world_own_node()) {
        struct hw_registry *registry = hw_registry_of(process);
        if (registry == NULL || !hw_helped_ask(&registry->word, target->is_long))
            return;
    }
    struct hw_registry_notice notice = {
        .from = hw_world.rank, .to = process, .kind = HW_REGISTRY_RING, .is_long = target->is_long};
    if (hw_helper_note(&notice))
        HW_COUNT(targets_rung);
}

static struct target *target_of(struct known *known, int rank)
{
    for (int i = 0; i < known->target_count; i++)
        if (known->targets[i].rank == rank)
            return &known->targets[i];
    return NULL;
}

void hw_helper_rings_issued(MPI_Win win, int rank, uint64_t bytes)
{
    pthread_mutex_lock(&lock);
    struct known *known = find(win);
    struct target *target = known ? target_of(known, rank) : NULL;
    bool is_long = bytes > LONG_BYTES;
    if (known && target == NULL && known->target_count < TARGETS && is_remote(known, rank)) {
        target = &known->targets[known->target_count++];
        *target = (struct target){.rank = rank, .is_long = is_long};
        ring(known, target);
    } else if (target) {
        target->is_long = target->is_long || is_long;
    }
    pthread_mutex_unlock(&lock);
}

uint64_t hw_helper_rings_wait(MPI_Win win, int rank)
{
    bool has_some = false;
    pthread_mutex_lock(&lock);
    struct known *known = find(win);
    int kept = 0;
    for (int i = 0; known && i < known->target_count; i++) {
        struct target *target = &known->targets[i];
        if (rank != HW_HELPER_RINGS_ALL && rank != target->rank) {
            known->targets[kept++] = *target;
            continue;
        }
        has_some = true;
        ring(known, target);
    }
    if (known)
        known->target_count = kept;
    pthread_mutex_unlock(&lock);
    return has_some ? hw_clock_now_ns() : 0;
}

uint64_t hw_helper_rings_meet(MPI_Win win, int rank)
{
    bool is_rung = false;
    pthread_mutex_lock(&lock);
    struct known *known = find(win);
    if (known && is_remote(known, rank)) {
        ring(known, &(struct target){.rank = rank});
        is_rung = true;
    }
    pthread_mutex_unlock(&lock);
    return is_rung ? hw_clock_now_ns() : 0;
}

void hw_helper_rings_waited(MPI_Win win, uint64_t began_ns)
{
    if (began_ns == 0)
        return;
    bool is_quick = hw_clock_now_ns() - began_ns < QUICK_NS;
    pthread_mutex_lock(&lock);
    struct known *known = find(win);
    if (known && !is_quick)
        known->quick_count = 0;
    else if (known && known->quick_count < QUICK_ENOUGH)
        known->quick_count++;
    pthread_mutex_unlock(&lock);
}

void hw_helper_rings_forget(MPI_Win win)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < WINDOWS; i++)
        if (windows[i].processes && windows[i].win == win) {
            free(windows[i].processes);
            windows[i] = (struct known){0};
        }
    pthread_mutex_unlock(&lock);
}
