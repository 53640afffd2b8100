/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/ghost/windows.h"

#include "engines/rma/window/comms.h"
#include "engines/rma/window/hints.h"
#include "engines/rma/window/protocol.h"
#include "ghost/give_up.h"
#include "ghost/node_memory.h"
#include "ghost/wait.h"
#include "real/constants.h"
#include "world/world.h"

#include <stdlib.h>

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

static struct ghost_window *windows;

bool hw_rma_ghost_windows_are_there(void) { return windows != NULL; }

/* Where the node's memory begins in this process, and how long it is. */
static MPI_Aint find_segment(const struct ghost_window *window, void **base)
{
    MPI_Aint total = 0, size;
    int count, unit;
    void *ignored;
    hw_bottom.Comm_size(window->comms.node, &count);
    for (int i = 0; i < count; i++) {
        if (hw_bottom.Win_shared_query(window->shared, i, &size, &unit, &ignored) != MPI_SUCCESS)
            hw_ghost_give_up("cannot map the memory of a window");
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
        hw_ghost_give_up("cannot map the memory of a window");
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
    if (!hw_rma_comms_prepare(members, window->member_count, &window->comms) ||
        hw_rma_comms_make(&window->comms, !is_there) != HW_OK)
        hw_ghost_give_up("cannot make the communicators of a window");
    window->shared = HW_WIN_NULL;
    if (!is_there && hw_bottom.Win_allocate_shared(HW_RMA_ALIGNMENT, 1, HW_INFO_NULL, window->comms.node,
                                                   &base, &window->shared) != MPI_SUCCESS)
        hw_ghost_give_up("cannot share the memory of a window");
    MPI_Aint size = find_memory(window, &base);
    window->dynamic = HW_WIN_NULL;
    if (window->is_dynamic &&
        hw_bottom.Win_create_dynamic(hints, window->comms.window, &window->dynamic) != MPI_SUCCESS)
        hw_ghost_give_up("cannot make a dynamic window");
    if (hw_bottom.Win_create(base, size, 1, hints, window->comms.window, &window->win) != MPI_SUCCESS)
        hw_ghost_give_up("cannot make a window");
}

static void create(const struct hw_ghost_command *command, int origin)
{
    int count = command->words[HW_RMA_WORD_MEMBERS], hint_bytes = command->words[HW_RMA_WORD_HINT_BYTES];
    int *members = count ? calloc((size_t)count, sizeof *members) : NULL;
    char *hints = malloc((size_t)hint_bytes + 1);
    size_t piece_bytes = (size_t)command->words[HW_RMA_WORD_PIECES] * sizeof(struct hw_ghost_piece);
    struct hw_ghost_piece *pieces = malloc(piece_bytes + 1);
    struct ghost_window *window = calloc(1, sizeof *window);
    if (window == NULL || hints == NULL || pieces == NULL || (count && members == NULL))
        hw_ghost_give_up("has no memory left for a window");
    if (count)
        hw_bottom.Recv(members, count, HW_INT, origin, HW_RMA_TAG_DETAIL, hw_world.all, HW_STATUS_IGNORE);
    if (hint_bytes)
        hw_bottom.Recv(hints, hint_bytes, HW_CHAR, origin, HW_RMA_TAG_DETAIL, hw_world.all, HW_STATUS_IGNORE);
    if (piece_bytes)
        hw_bottom.Recv(pieces, (int)piece_bytes, HW_BYTE, origin, HW_RMA_TAG_DETAIL, hw_world.all,
                       HW_STATUS_IGNORE);
    MPI_Info info = hw_rma_hints_unpack(hints, hint_bytes);
    window->id = command->id;
    window->member_count = count;
    window->pieces = pieces;
    window->piece_count = command->words[HW_RMA_WORD_PIECES];
    window->is_dynamic = command->words[HW_RMA_WORD_IS_DYNAMIC] != 0;
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
        hw_ghost_give_up("was told of a window it does not know");
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

void hw_rma_ghost_windows_obey(const struct hw_ghost_command *command, int origin)
{
    switch ((enum hw_rma_tag)command->tag) {
    case HW_RMA_TAG_CREATE:
        create(command, origin);
        return;
    case HW_RMA_TAG_FREE:
        destroy(command->id);
        return;
    default:
        hw_ghost_give_up("was told something it does not understand");
    }
}
