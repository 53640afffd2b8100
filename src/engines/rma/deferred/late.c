/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/deferred/late.h"

#include "base/clock.h"
#include "engines/engine.h"
#include "engines/rma/epoch/epoch.h"
#include "engines/rma/epoch/under_way.h"
#include "profile/record/counters.h"
#include "progress/deferred.h"
#include "progress/inside.h"
#include "real/constants.h"

#include <pthread.h>
#include <stdlib.h>

enum { OPERATIONS_MAX = 4096 };

/* A target that comes within it costs less than being deferred. */
#define PATIENCE_NS (20 * HW_NS_PER_US)
/* Between two looks of operations that are kept one after the other. */
#define LOOK_NS (20 * HW_NS_PER_US)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all that follows, and what is in windows */
static struct hw_rma_window *first_window;               /* with late targets */
static uint64_t looked_ns;                               /* last, for an operation */

/* Who found a target open. */
enum finder { BY_CALL, BY_THREAD, BY_WAITING };

bool hw_rma_late_reserve(struct hw_rma_window *window)
{
    if (window->deferred != NULL)
        return true;
    size_t size = (size_t)window->size;
    struct hw_rma_deferred *deferred = calloc(1, sizeof *deferred + size * sizeof deferred->lates[0]);
    if (deferred == NULL)
        return false;
    deferred->openings = malloc((size + 1) * sizeof(MPI_Request));
    deferred->ranks = malloc((size + 1) * sizeof *deferred->ranks);
    deferred->indices = malloc((size + 1) * sizeof *deferred->indices);
    window->deferred = deferred;
    if (deferred->openings && deferred->ranks && deferred->indices)
        return true;
    hw_rma_late_forget(window);
    return false;
}

void hw_rma_late_forget(struct hw_rma_window *window)
{
    struct hw_rma_deferred *deferred = window->deferred;
    if (deferred == NULL)
        return;
    window->deferred = NULL;
    free(deferred->openings);
    free(deferred->ranks);
    free(deferred->indices);
    free(deferred);
}

static void add(struct hw_rma_window *window, int rank, MPI_Request opening)
{
    struct hw_rma_deferred *deferred = window->deferred;
    if (deferred->late_count == 0) {
        deferred->next = first_window;
        first_window = window;
        hw_inside_want(HW_INSIDE_GOES_DEFERRED, true);
    }
    deferred->openings[deferred->late_count] = opening;
    deferred->ranks[deferred->late_count++] = rank;
    HW_COUNT(targets_deferred);
}

void hw_rma_late_add(struct hw_rma_window *window, int rank, enum hw_rma_late_kind kind,
                     const struct hw_ghost_later *later)
{
    pthread_mutex_lock(&lock);
    window->deferred->lates[rank] = (struct hw_rma_late){.kind = kind, .grant = *later};
    add(window, rank, later->request);
    pthread_mutex_unlock(&lock);
}

/* Awaited from the beginning: a barrier needs the progress of all its members. */
void hw_rma_late_add_fence(struct hw_rma_window *window, MPI_Request barrier, int assertion)
{
    pthread_mutex_lock(&lock);
    window->deferred->is_fence_late = true;
    window->deferred->fence_assertion = assertion;
    add(window, HW_RMA_LATE_ALL, barrier);
    HW_COUNT(targets_awaited);
    hw_deferred_add(1);
    pthread_mutex_unlock(&lock);
    hw_engines_deferred();
}

static void unlink_window(struct hw_rma_window *window)
{
    struct hw_rma_window **link = &first_window;
    while (*link != window)
        link = &(*link)->deferred->next;
    *link = window->deferred->next;
    if (first_window == NULL)
        hw_inside_want(HW_INSIDE_GOES_DEFERRED, false);
}

static void count_issued(enum finder finder)
{
    HW_COUNT_ADD(deferred_by_thread, finder == BY_THREAD);
    HW_COUNT_ADD(deferred_by_calls, finder == BY_CALL);
}

/* What was kept for one target. */
static void issue(struct hw_rma_window *window, struct hw_rma_late *late, enum finder finder)
{
    struct hw_rma_deferred *deferred = window->deferred;
    struct hw_rma_deferred_operation *operation = late->first, *next;
    late->first = late->last = NULL;
    for (; operation; operation = next) {
        next = operation->next;
        int rc = hw_rma_deferred_issue(window, operation);
        if (rc != MPI_SUCCESS && deferred->error == MPI_SUCCESS)
            deferred->error = rc;
        deferred->operation_count--;
        count_issued(finder);
    }
}

/* Errors are kept for the call that ends the epoch: the program's handler is not to run here, least of all in
 * the progress thread. */
static void issue_muted(struct hw_rma_window *window, int rank, enum finder finder)
{
    struct hw_rma_deferred *deferred = window->deferred;
    MPI_Errhandler handler;
    int first = rank == HW_RMA_LATE_ALL ? 0 : rank, end = rank == HW_RMA_LATE_ALL ? window->size : rank + 1;
    hw_rma_is_muted = true;
    bool is_muted = hw_bottom.Win_get_errhandler(window->handle, &handler) == MPI_SUCCESS &&
                    hw_bottom.Win_set_errhandler(window->handle, HW_ERRORS_RETURN) == MPI_SUCCESS;
    for (int i = first; i < end; i++)
        if (deferred->lates[i].first)
            issue(window, &deferred->lates[i], finder);
    if (is_muted) {
        hw_bottom.Win_set_errhandler(window->handle, handler);
        if (handler != HW_ERRORS_ARE_FATAL && handler != HW_ERRORS_RETURN)
            hw_bottom.Errhandler_free(&handler);
    }
    hw_rma_is_muted = false;
}

static bool has_operations(const struct hw_rma_window *window, int rank)
{
    return rank == HW_RMA_LATE_ALL ? window->deferred->operation_count > 0
                                   : window->deferred->lates[rank].first != NULL;
}

/* The request in PLACE is complete. */
static void opened(struct hw_rma_window *window, int place, enum finder finder)
{
    struct hw_rma_deferred *deferred = window->deferred;
    int rank = deferred->ranks[place], last = --deferred->late_count;
    deferred->openings[place] = deferred->openings[last];
    deferred->ranks[place] = deferred->ranks[last];
    if (last == 0)
        unlink_window(window);
    if (rank == HW_RMA_LATE_ALL) {
        deferred->is_fence_late = false;
        hw_rma_fence_opened(window, deferred->fence_assertion);
        hw_deferred_take(1);
    } else {
        struct hw_rma_late *late = &deferred->lates[rank];
        if (late->kind == HW_RMA_LATE_GRANT)
            hw_rma_lock_granted(window, rank, &late->grant);
        else
            hw_rma_start_opened(window, rank);
        late->kind = HW_RMA_NOT_LATE;
        hw_deferred_take(late->is_awaited);
        late->is_awaited = false;
    }
    if (has_operations(window, rank))
        issue_muted(window, rank, finder);
}

static void note_error(struct hw_rma_window *window, int rc)
{
    if (rc != MPI_SUCCESS && window->deferred->error == MPI_SUCCESS)
        window->deferred->error = rc;
}

/* Under the lock. Returns how many were found open. */
static int look(struct hw_rma_window *window, enum finder finder)
{
    struct hw_rma_deferred *deferred = window->deferred;
    int found = 0, count;
    if (deferred->late_count == 0)
        return 0;
    note_error(window, hw_bottom.Testsome(deferred->late_count, deferred->openings, &count, deferred->indices,
                                          HW_STATUSES_IGNORE));
    for (int place = deferred->late_count - 1; place >= 0; place--) {
        if (deferred->openings[place] != HW_REQUEST_NULL)
            continue;
        opened(window, place, finder);
        found++;
    }
    return found;
}

void hw_rma_late_look(struct hw_rma_window *window)
{
    pthread_mutex_lock(&lock);
    look(window, BY_CALL);
    pthread_mutex_unlock(&lock);
}

static int look_everywhere(enum finder finder)
{
    int found = 0;
    for (struct hw_rma_window *window = first_window, *next; window; window = next) {
        next = window->deferred->next;
        found += look(window, finder);
    }
    return found;
}

void hw_rma_late_look_in_call(void)
{
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    if (first_window)
        hw_inside_pay();
    look_everywhere(BY_CALL);
    pthread_mutex_unlock(&lock);
}

/* What the program's thread owes it pays itself, before anything may be issued. */
void hw_rma_late_look_in_turn(void)
{
    if (hw_inside_is_owing || pthread_mutex_trylock(&lock) != 0)
        return;
    HW_COUNT(deferred_looks);
    HW_COUNT_ADD(deferred_looks_in_vain, look_everywhere(BY_THREAD) == 0);
    pthread_mutex_unlock(&lock);
}

static int place_of(const struct hw_rma_deferred *deferred, int rank)
{
    int place = 0;
    while (deferred->ranks[place] != rank)
        place++;
    return place;
}

/* Under the lock. */
static void wait_at(struct hw_rma_window *window, int place)
{
    HW_COUNT(targets_waited_for);
    note_error(window, hw_bottom.Wait(&window->deferred->openings[place], HW_STATUS_IGNORE));
    opened(window, place, BY_WAITING);
}

static void settle(struct hw_rma_window *window, int rank)
{
    struct hw_rma_deferred *deferred = window->deferred;
    int place = 0;
    look(window, BY_CALL);
    if (deferred->is_fence_late)
        wait_at(window, place_of(deferred, HW_RMA_LATE_ALL));
    if (rank != HW_RMA_LATE_ALL) {
        if (hw_rma_is_late(window, rank))
            wait_at(window, place_of(deferred, rank));
        return;
    }
    while (deferred->late_count > 0) {
        HW_COUNT(targets_waited_for);
        note_error(window,
                   hw_bottom.Waitany(deferred->late_count, deferred->openings, &place, HW_STATUS_IGNORE));
        opened(window, place >= 0 && place < deferred->late_count ? place : 0, BY_WAITING);
    }
}

void hw_rma_late_settle(struct hw_rma_window *window, int rank)
{
    uint64_t began_ns = hw_clock_now_ns();
    pthread_mutex_lock(&lock);
    hw_inside_pay();
    settle(window, rank);
    pthread_mutex_unlock(&lock);
    hw_engines_blocked(began_ns);
}

void hw_rma_late_settle_fence(struct hw_rma_window *window)
{
    if (hw_rma_has_late(window) && window->deferred->is_fence_late)
        hw_rma_late_settle(window, 0);
}

void hw_rma_late_settle_everything(void)
{
    while (first_window)
        hw_rma_late_settle(first_window, HW_RMA_LATE_ALL);
}

/* A late target gets its first operation: false if it opened in the meantime. */
static bool await(struct hw_rma_window *window, int rank)
{
    uint64_t began_ns = hw_clock_now_ns();
    do {
        look(window, BY_CALL);
        if (!hw_rma_is_late(window, rank))
            return false;
    } while (hw_clock_now_ns() - began_ns < PATIENCE_NS);
    window->deferred->lates[rank].is_awaited = true;
    HW_COUNT(targets_awaited);
    hw_deferred_add(1);
    return true;
}

/* Whether its target is still late, after a look now and then. */
static bool is_still_late(struct hw_rma_window *window, int rank, bool *is_first)
{
    struct hw_rma_late *late = &window->deferred->lates[rank];
    *is_first = !window->deferred->is_fence_late && !late->is_awaited;
    if (*is_first)
        return await(window, rank);
    uint64_t now_ns = hw_clock_now_ns();
    if (now_ns - looked_ns >= LOOK_NS) {
        looked_ns = now_ns;
        look(window, BY_CALL);
    }
    return hw_rma_is_late(window, rank);
}

static void append(struct hw_rma_window *window, struct hw_rma_deferred_operation *operation)
{
    struct hw_rma_late *late = &window->deferred->lates[operation->rank];
    bool is_get = operation->kind == HW_RMA_DEFERRED_GET || operation->kind == HW_RMA_DEFERRED_GET_ACCUMULATE;
    if (late->last)
        late->last->next = operation;
    else
        late->first = operation;
    late->last = operation;
    window->deferred->operation_count++;
    HW_COUNT(operations_deferred);
    if (operation->kind < HW_RMA_DEFERRED_FETCH_AND_OP)
        hw_rma_under_way_note(window, window->win, operation->rank, operation->target.count,
                              operation->target.type, is_get);
}

bool hw_rma_late_keep(struct hw_rma_window *window, const struct hw_rma_deferred_operation *given)
{
    bool is_first = false, is_kept = false;
    pthread_mutex_lock(&lock);
    hw_inside_pay();
    if (is_still_late(window, given->rank, &is_first)) {
        struct hw_rma_deferred_operation *copy = NULL;
        if (window->deferred->operation_count < OPERATIONS_MAX)
            copy = hw_rma_deferred_copy(given);
        if (copy)
            append(window, copy);
        else
            settle(window, given->rank);
        is_kept = copy != NULL;
    }
    pthread_mutex_unlock(&lock);
    if (is_kept && is_first)
        hw_engines_deferred();
    return is_kept;
}

int hw_rma_late_take_error(struct hw_rma_window *window)
{
    int error = MPI_SUCCESS;
    pthread_mutex_lock(&lock);
    if (window->deferred) {
        error = window->deferred->error;
        window->deferred->error = MPI_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return error;
}
