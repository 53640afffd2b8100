#include "engines/rma/user.h"

#include "base/log.h"
#include "engines/rma/calls.h"
#include "engines/rma/epoch/flush_wait.h"
#include "engines/rma/epoch/owed.h"
#include "engines/rma/operation/near.h"
#include "engines/rma/operation/near_accumulate.h"
#include "engines/rma/rma.h"
#include "engines/rma/window/common.h"
#include "ghost/bell.h"
#include "ghost/watch.h"
#include "profile/counters.h"
#include "real/detect.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

struct hw_rma_windows *hw_rma_windows;
bool hw_rma_needs_confirmation;
_Thread_local struct hw_rma_window *hw_rma_freeing;

static atomic_bool may_have_threads;

static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER; /* guards changes of the table and the list */
static struct hw_rma_window *first_window;

/* Commands to each ghost, by its place in hw_world.ghost_ranks: of this process, and at the end of all. */
static _Atomic uint64_t *told;
static uint64_t *told_by_all;

void hw_rma_expect_threads(void) { atomic_store(&may_have_threads, true); }

bool hw_rma_may_have_threads(void) { return atomic_load(&may_have_threads); }

static struct hw_rma_windows *make_table(size_t capacity)
{
    struct hw_rma_windows *table = calloc(1, sizeof *table + capacity * sizeof table->slots[0]);
    if (table)
        table->mask = capacity - 1;
    return table;
}

/* Under list_mutex. There is a free place. */
static void fill_slot(struct hw_rma_windows *table, uintptr_t key, struct hw_rma_window *window)
{
    size_t i = hw_rma_hash(key) & table->mask;
    for (;; i = (i + 1) & table->mask) {
        uintptr_t found = hw_atomic_load_relaxed(&table->slots[i].key);
        if (found == 0)
            table->used++;
        if (found == 0 || found == key)
            break;
    }
    hw_atomic_store_release(&table->slots[i].window, window);
    hw_atomic_store_release(&table->slots[i].key, key);
}

/* A larger table for the windows that live. The old one may still be read: it is never freed, and all
 * of them together are smaller than the last. */
static struct hw_rma_windows *grow(const struct hw_rma_windows *old)
{
    struct hw_rma_windows *table = make_table((old->mask + 1) * 2);
    for (size_t i = 0; table && i <= old->mask; i++) {
        struct hw_rma_window *window = hw_atomic_load_relaxed(&old->slots[i].window);
        if (window)
            fill_slot(table, hw_atomic_load_relaxed(&old->slots[i].key), window);
    }
    return table;
}

bool hw_rma_window_enter(struct hw_rma_window *window)
{
    pthread_mutex_lock(&list_mutex);
    struct hw_rma_windows *table = hw_rma_windows;
    if (table->used > table->mask / 2) {
        table = grow(table);
        if (table)
            __atomic_store_n(&hw_rma_windows, table, __ATOMIC_RELEASE);
    }
    if (table) {
        fill_slot(table, (uintptr_t)window->handle, window);
        window->next = first_window;
        first_window = window;
    }
    pthread_mutex_unlock(&list_mutex);
    return table != NULL;
}

void hw_rma_window_leave(struct hw_rma_window *window)
{
    pthread_mutex_lock(&list_mutex);
    fill_slot(hw_rma_windows, (uintptr_t)window->handle, NULL);
    for (struct hw_rma_window **link = &first_window; *link; link = &(*link)->next) {
        if (*link == window) {
            *link = window->next;
            break;
        }
    }
    pthread_mutex_unlock(&list_mutex);
}

struct hw_rma_window *hw_rma_window_first(void)
{
    pthread_mutex_lock(&list_mutex);
    struct hw_rma_window *lowest = first_window;
    for (struct hw_rma_window *window = first_window; window; window = window->next)
        if (window->id < lowest->id)
            lowest = window;
    pthread_mutex_unlock(&list_mutex);
    return lowest;
}

void hw_rma_count(void)
{
    pthread_mutex_lock(&list_mutex);
    for (struct hw_rma_window *window = first_window; window; window = window->next)
        HW_COUNT_ADD(operations_redirected, atomic_exchange(&window->op_count, 0));
    pthread_mutex_unlock(&list_mutex);
}

int hw_rma_tell(int ghost, struct hw_rma_command *command)
{
    const struct hw_world_process *process = &hw_world.processes[ghost];
    hw_atomic_add_relaxed(&told[hw_world.nodes[process->node].first_ghost + process->local_index], 1);
    int rc = hw_bottom.Send(command, sizeof *command, HW_BYTE, ghost, HW_RMA_TAG_COMMAND, hw_world.all);
    if (process->node == hw_world_own_node())
        hw_ghost_bell_ring(hw_ghost_bell_of(process->local_index));
    return rc;
}

int hw_rma_ask(int ghost, struct hw_rma_command *command)
{
    static atomic_uint asked; /* threads that wait at the same time must not take each other's grants */
    command->grant_tag =
        HW_RMA_TAG_GRANT_FIRST + (int32_t)(hw_atomic_add_relaxed(&asked, 1) % HW_RMA_TAG_GRANT_COUNT);
    int rc = hw_rma_tell(ghost, command);
    if (rc != MPI_SUCCESS)
        return rc;
    return hw_bottom.Recv(NULL, 0, HW_BYTE, ghost, command->grant_tag, hw_world.all, HW_STATUS_IGNORE);
}

int hw_rma_gate_enter(void)
{
    struct hw_rma_command command = {
        .kind = HW_RMA_LOCK, .id = HW_RMA_GATE_ID, .lock = HW_RMA_LOCK_EXCLUSIVE};
    return hw_rma_ask(hw_world.ghost_ranks[0], &command);
}

int hw_rma_gate_leave(void)
{
    struct hw_rma_command command = {.kind = HW_RMA_UNLOCK, .id = HW_RMA_GATE_ID};
    return hw_rma_tell(hw_world.ghost_ranks[0], &command);
}

/* Not before every user process is here: until then one may need any ghost, the first for the gate. And not
 * before a ghost has had all commands: nobody waits for an unlock to arrive, and what is left of a
 * communicator when it is freed some MPIs take for an error. */
static void tell_finish(void)
{
    hw_bottom.Allreduce(told, told_by_all, hw_world.ghost_count, HW_UINT64_T, HW_SUM, hw_world.users);
    if (hw_world.processes[hw_world.rank].local_index > 0)
        return;
    hw_ghost_watch_stop();
    for (int i = 0; i < hw_world.own_node->ghost_count; i++) {
        int place = hw_world.own_node->first_ghost + i;
        struct hw_rma_command command = {.kind = HW_RMA_FINISH, .id = told_by_all[place]};
        hw_rma_tell(hw_world.ghost_ranks[place], &command);
    }
}

/* In MPI_Finalize: the ghosts may leave, after what the program did not free is freed, in an order that is
 * the same at all processes; threads may have made windows in any. */
static void finish(void)
{
    for (struct hw_rma_window *window; (window = hw_rma_window_first()) != NULL;) {
        MPI_Win win = window->handle;
        hw_rma_unlock_all_at_end(window);
        hw_rma_freeing = window;
        if (hw_rma_window_free(window, &win) != MPI_SUCCESS)
            break;
    }
    hw_rma_freeing = NULL;
    hw_engines_end(&hw_engine_rma);
    __atomic_store_n(&hw_rma_windows, NULL, __ATOMIC_RELEASE);
    tell_finish();
    hw_rma_flush_wait_close();
    hw_rma_common_free();
    hw_rma_near_accumulate_close();
    hw_rma_near_close();
    hw_ghost_bells_free();
    hw_rma_quiesce();
    free(told);
    free(told_by_all);
}

uint64_t hw_rma_ghost_cpu_ns(void)
{
    int ghost = hw_world.processes[hw_world.rank].ghost;
    return hw_ghost_bell_cpu_ns(hw_world.processes[ghost].local_index);
}

enum hw_status hw_rma_start(void)
{
    struct hw_rma_windows *table = make_table(FIRST_CAPACITY);
    told = calloc((size_t)hw_world.ghost_count, sizeof *told);
    told_by_all = calloc((size_t)hw_world.ghost_count, sizeof *told_by_all);
    if (table == NULL || told == NULL || told_by_all == NULL || hw_world_at_end(finish) != HW_OK) {
        hw_log_error("no memory for the table of windows, or the MPI refuses attributes; run without "
                     "HEADWAY_GHOSTS");
        free(table);
        free(told);
        free(told_by_all);
        return HW_NOMEM;
    }
    hw_rma_needs_confirmation = !hw_real_is_flush_remote();
    hw_rma_owed_open();
    hw_rma_flush_wait_open();
    hw_rma_near_open();
    hw_ghost_bells_make(false);
    hw_ghost_node_memory_open();
    hw_rma_common_make();
    __atomic_store_n(&hw_rma_windows, table, __ATOMIC_RELEASE);
    hw_ghost_watch_start();
    return HW_OK;
}
