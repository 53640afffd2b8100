/* The ghost: takes commands, takes part in making and freeing windows, keeps locks, and in between makes MPI
 * progress, which is what serves the operations redirected to it (papers/002 section 3). One thread. */
#include "base/clock.h"
#include "base/log.h"
#include "engines/rma/ghost/lock.h"
#include "engines/rma/rma.h"
#include "engines/rma/window/common.h"
#include "ghost/apply_lock.h"
#include "ghost/bell.h"
#include "ghost/herald.h"
#include "ghost/wait.h"
#include "progress/poll.h"
#include "real/ending.h"
#include "real/software_rma.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

struct ghost_window {
    struct ghost_window *next;
    uint64_t id;
    int member_count;
    struct hw_rma_comms comms;
    MPI_Win shared, win; /* shared: null where the memory is in pieces */
    MPI_Win dynamic;     /* or null; nothing is attached here */
    struct hw_ghost_piece *pieces;
    int piece_count;
    char *mapped;    /* the pieces */
    bool is_dynamic; /* the memory is the ranges of the node, which stay mapped */
};

enum { POLLS_PER_PROBE = 8 };

static struct ghost_window *windows;
static struct hw_ghost_apply_lock
    *apply_lock;     /* held in every call of MPI while there are windows; or NULL */
static bool is_over; /* MPI has ended in this ghost */
static uint64_t obeyed_count, told_count = UINT64_MAX; /* told: once it is known */

_Noreturn static void give_up(const char *what)
{
    hw_log_error("a ghost %s; the job ends", what);
    hw_ghost_herald_stop();
    hw_bottom.Abort(HW_COMM_WORLD, 1);
    _exit(1);
}

/* Where the node's memory begins in this process, and how long it is. */
static MPI_Aint find_segment(const struct ghost_window *window, void **base)
{
    MPI_Aint total = 0, size;
    int count, unit;
    void *ignored;
    hw_bottom.Comm_size(window->comms.node, &count);
    for (int i = 0; i < count; i++) {
        if (hw_bottom.Win_shared_query(window->shared, i, &size, &unit, &ignored) != MPI_SUCCESS)
            give_up("cannot map the memory of a window");
        total += size;
    }
    hw_bottom.Win_shared_query(window->shared, HW_PROC_NULL, &size, &unit, base);
    return total;
}

static MPI_Aint map_pieces(struct ghost_window *window, void **base)
{
    MPI_Aint total = HW_RMA_ALIGNMENT;
    window->mapped = hw_ghost_node_memory_map(window->pieces, window->piece_count, HW_RMA_ALIGNMENT);
    if (window->mapped == NULL)
        give_up("cannot map the memory of a window");
    for (int i = 0; i < window->piece_count; i++)
        total += (MPI_Aint)window->pieces[i].bytes;
    *base = window->mapped;
    return total;
}

/* The ghost adds a page, so that the memory is never empty. */
static MPI_Aint find_memory(struct ghost_window *window, void **base)
{
    if (window->is_dynamic) {
        struct hw_ghost_ranges ranges = hw_ghost_node_memory_ranges();
        *base = ranges.memory;
        return (MPI_Aint)ranges.bytes;
    }
    return window->piece_count > 0 ? map_pieces(window, base) : find_segment(window, base);
}

static void make_windows(struct ghost_window *window, const int *members, MPI_Info hints)
{
    bool is_there = window->piece_count > 0 || window->is_dynamic;
    void *base = NULL;
    if (hw_rma_comms_make(members, window->member_count, !is_there, &window->comms) != HW_OK)
        give_up("cannot make the communicators of a window");
    window->shared = HW_WIN_NULL;
    if (!is_there && hw_bottom.Win_allocate_shared(HW_RMA_ALIGNMENT, 1, HW_INFO_NULL, window->comms.node,
                                                   &base, &window->shared) != MPI_SUCCESS)
        give_up("cannot share the memory of a window");
    MPI_Aint size = find_memory(window, &base);
    window->dynamic = HW_WIN_NULL;
    if (window->is_dynamic &&
        hw_bottom.Win_create_dynamic(hints, window->comms.window, &window->dynamic) != MPI_SUCCESS)
        give_up("cannot make a dynamic window");
    if (hw_bottom.Win_create(base, size, 1, hints, window->comms.window, &window->win) != MPI_SUCCESS)
        give_up("cannot make a window");
}

static void create(const struct hw_rma_command *command, int origin)
{
    int count = command->member_count;
    int *members = count ? calloc((size_t)count, sizeof *members) : NULL;
    char *hints = malloc((size_t)command->hint_bytes + 1);
    size_t piece_bytes = (size_t)command->piece_count * sizeof(struct hw_ghost_piece);
    struct hw_ghost_piece *pieces = malloc(piece_bytes + 1);
    struct ghost_window *window = calloc(1, sizeof *window);
    if (window == NULL || hints == NULL || pieces == NULL || (count && members == NULL))
        give_up("has no memory left for a window");
    if (count)
        hw_bottom.Recv(members, count, HW_INT, origin, HW_RMA_TAG_DETAIL, hw_world.all, HW_STATUS_IGNORE);
    if (command->hint_bytes)
        hw_bottom.Recv(hints, command->hint_bytes, HW_CHAR, origin, HW_RMA_TAG_DETAIL, hw_world.all,
                       HW_STATUS_IGNORE);
    if (piece_bytes)
        hw_bottom.Recv(pieces, (int)piece_bytes, HW_BYTE, origin, HW_RMA_TAG_DETAIL, hw_world.all,
                       HW_STATUS_IGNORE);
    MPI_Info info = hw_rma_hints_unpack(hints, command->hint_bytes);
    window->id = command->id;
    window->member_count = count;
    window->pieces = pieces;
    window->piece_count = command->piece_count;
    window->is_dynamic = command->is_dynamic != 0;
    hw_ghost_wait_enter_mpi();
    make_windows(window, members, info);
    hw_ghost_wait_leave_mpi();
    window->next = windows;
    windows = window;
    if (info != HW_INFO_NULL)
        hw_bottom.Info_free(&info);
    free(hints);
    free(members);
}

static void destroy(uint64_t id)
{
    struct ghost_window **link = &windows;
    while (*link && (*link)->id != id)
        link = &(*link)->next;
    struct ghost_window *window = *link;
    if (window == NULL)
        give_up("was told of a window it does not know");
    *link = window->next;
    hw_ghost_wait_enter_mpi();
    if (window->dynamic != HW_WIN_NULL)
        hw_bottom.Win_free(&window->dynamic);
    hw_bottom.Win_free(&window->win);
    if (window->shared != HW_WIN_NULL)
        hw_bottom.Win_free(&window->shared);
    hw_rma_comms_free(&window->comms);
    hw_ghost_wait_leave_mpi();
    hw_ghost_node_memory_unmap(window->mapped, window->pieces, window->piece_count, HW_RMA_ALIGNMENT);
    free(window->pieces);
    free(window);
}

static void obey(const struct hw_rma_command *command, int origin)
{
    switch ((enum hw_rma_kind)command->kind) {
    case HW_RMA_CREATE:
        create(command, origin);
        return;
    case HW_RMA_FREE:
        destroy(command->id);
        return;
    case HW_RMA_LOCK:
        hw_rma_ghost_lock_ask(origin, command);
        return;
    case HW_RMA_UNLOCK:
        hw_rma_ghost_lock_release(command);
        return;
    case HW_RMA_FINISH:
        told_count = command->id;
        return;
    }
    give_up("was told something it does not understand");
}

/* The next command, if one has come. A matched probe and not a receive from any source, which MPICH 5.0 over
 * UCX never completes for some messages from other nodes (doc/guide/troubleshooting.md). */
static bool take(struct hw_rma_command *command, int *origin)
{
    int is_there = 0;
    MPI_Message message;
    MPI_Status status;
    if (hw_bottom.Improbe(HW_ANY_SOURCE, HW_RMA_TAG_COMMAND, hw_world.all, &is_there, &message, &status) !=
        MPI_SUCCESS)
        give_up("cannot receive any more");
    if (!is_there)
        return false;
    *origin = status.MPI_SOURCE;
    if (hw_bottom.Mrecv(command, sizeof *command, HW_BYTE, &message, HW_STATUS_IGNORE) != MPI_SUCCESS)
        give_up("cannot receive any more");
    return true;
}

/* With the lock: only here are operations of others applied, and the ghost sleeps without it. Within obey it
 * may wait for others' part in a collective call, which they make without the lock. */
static bool look(bool must_look, bool must_probe)
{
    struct hw_rma_command command;
    int origin;
    if (apply_lock)
        hw_ghost_apply_lock_ghost_take(apply_lock);
    hw_poll(); /* also where a probe alone makes no progress */
    if (must_look)
        hw_poll();
    bool has_command = must_probe && take(&command, &origin);
    if (has_command) {
        obey(&command, origin);
        obeyed_count += command.kind != HW_RMA_FINISH;
    }
    hw_rma_ghost_locks_relax();
    if (apply_lock)
        hw_ghost_apply_lock_ghost_give(apply_lock);
    return has_command;
}

/* Polls come before a probe, and more often: what the ghost is woken for are mostly operations, which a poll
 * serves, and a probe that finds nothing ends in sched_yield(2) on the MPICH family. Next to a process that
 * spins that costs the ghost its core for 0.1 ms and more. */
static void serve(void)
{
    bool must_look = true;
    unsigned polls = 0;
    while (obeyed_count != told_count) {
        bool must_probe = must_look || ++polls % POLLS_PER_PROBE == 0;
        if (look(must_look, must_probe)) {
            hw_ghost_wait_traffic();
            must_look = true;
            continue;
        }
        must_look = hw_ghost_wait();
    }
}

/* What the program began before MPI_Init its processes end: handlers of exit(3), which may use what it has
 * only afterwards, destructors, text that is still to be written. The last handler runs first: those of the
 * MPI have run when this one does. */
static void end_ghost(void)
{
    if (is_over)
        _exit(0);
}

void hw_rma_ghost_prepare(void) { atexit(end_ghost); }

_Noreturn void hw_rma_ghost_run(void)
{
    prctl(PR_SET_NAME, "headway-ghost", 0, 0, 0);
    hw_ghost_herald_start();
    hw_ghost_bells_make(hw_real_is_accumulate_in_calls());
    hw_ghost_node_memory_open();
    apply_lock = hw_ghost_apply_lock_of(hw_world.processes[hw_world.rank].local_index);
    if (hw_poll_open() != HW_OK)
        give_up("cannot make a communicator");
    hw_ghost_wait_begin();
    hw_ghost_wait_enter_mpi();
    hw_rma_common_make();
    hw_ghost_wait_leave_mpi();
    serve();
    hw_ghost_wait_enter_mpi();
    hw_rma_common_free();
    hw_ghost_wait_leave_mpi();
    hw_poll_close();
    hw_ghost_bells_free();
    hw_rma_quiesce();
    hw_world_end();
    hw_real_ending_begin();
    hw_bottom.Finalize();
    hw_real_ending_end();
    hw_ghost_herald_stop();
    /* Not _exit: MPICH 5 says goodbye to its launcher in a handler of exit(3). */
    is_over = true;
    exit(0);
}
