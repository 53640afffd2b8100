/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/window/make.h"

#include "base/atomic.h"
#include "base/log.h"
#include "base/options.h"
#include "engines/rma/window/common.h"
#include "engines/rma/window/dynamic.h"
#include "engines/rma/window/epoch_type.h"
#include "engines/rma/window/facts.h"
#include "engines/rma/window/hints.h"
#include "engines/rma/window/info.h"
#include "engines/rma/window/nearby.h"
#include "engines/rma/window/numbers.h"
#include "engines/rma/window/plan.h"
#include "engines/rma/window/protocol.h"
#include "engines/rma/window/spread.h"
#include "engines/rma/window/table.h"
#include "engines/rma/window/wish.h"
#include "ghost/channel.h"
#include "ghost/gate.h"
#include "objects/request.h"
#include "profile/record/counters.h"
#include "progress/inside.h"
#include "real/quirks.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HINT_BYTES_MAX = 2048 };

static bool needs_gate(const struct hw_rma_window *window)
{
    return window->rank == 0 && !window->is_common &&
           (window->is_multithreaded || (window->ghost_count > 1 && !window->comms.is_world));
}

/* Threads of a member may make other windows at the same time, over the same communicators of ours. So all
 * wait until it is this window's turn, and nobody else's before all are done. */
static bool must_take_turns(const struct hw_rma_window *window)
{
    return window->is_multithreaded && !window->is_common;
}

static int enter_gate(const struct hw_rma_window *window, MPI_Comm comm)
{
    int rc = needs_gate(window) ? hw_ghost_gate_enter() : MPI_SUCCESS;
    int met = must_take_turns(window) ? hw_bottom.Barrier(comm) : MPI_SUCCESS;
    return rc == MPI_SUCCESS ? met : rc;
}

static void leave_gate(const struct hw_rma_window *window, MPI_Comm comm)
{
    if (must_take_turns(window))
        hw_bottom.Barrier(comm);
    if (needs_gate(window))
        hw_ghost_gate_leave();
}

static struct hw_ghost_piece piece_of(const struct hw_rma_offer *offer)
{
    return hw_ghost_piece_of(offer->place, offer->size, offer->page_bytes);
}

/* Of the members on a node, in their order; returns their number. */
static int find_pieces(const struct hw_rma_plan *plan, int node, struct hw_ghost_piece *pieces)
{
    int count = 0;
    for (int i = 0; i < plan->size; i++)
        if (hw_world.processes[plan->members[i]].node == node)
            pieces[count++] = piece_of(&plan->offers[i]);
    return count;
}

/* PIECES: room for one of each member; not used where the memory is not in pieces. */
static int tell_ghost(int ghost, struct hw_ghost_command *command, const struct hw_rma_plan *plan,
                      const char *hints, struct hw_ghost_piece *pieces)
{
    if (plan->is_in_pieces)
        command->words[HW_RMA_WORD_PIECES] = find_pieces(plan, hw_world.processes[ghost].node, pieces);
    int rc = hw_ghost_tell(ghost, command);
    if (rc == MPI_SUCCESS && command->words[HW_RMA_WORD_MEMBERS])
        rc = hw_bottom.Send(plan->members, plan->size, HW_INT, ghost, HW_RMA_TAG_DETAIL, hw_world.all);
    if (rc == MPI_SUCCESS && command->words[HW_RMA_WORD_HINT_BYTES])
        rc = hw_bottom.Send(hints, command->words[HW_RMA_WORD_HINT_BYTES], HW_CHAR, ghost, HW_RMA_TAG_DETAIL,
                            hw_world.all);
    if (rc == MPI_SUCCESS && plan->is_in_pieces)
        rc = hw_bottom.Send(pieces, (int)((size_t)command->words[HW_RMA_WORD_PIECES] * sizeof *pieces),
                            HW_BYTE, ghost, HW_RMA_TAG_DETAIL, hw_world.all);
    return rc;
}

static int tell_ghosts(const struct hw_rma_window *window, const struct hw_rma_plan *plan, const char *hints,
                       int hint_bytes, struct hw_ghost_piece *pieces)
{
    struct hw_ghost_command command = {.tag = HW_RMA_TAG_CREATE,
                                       .id = window->id,
                                       .words = {[HW_RMA_WORD_MEMBERS] = plan->is_whole ? 0 : plan->size,
                                                 [HW_RMA_WORD_IS_DYNAMIC] = plan->is_dynamic,
                                                 [HW_RMA_WORD_HINT_BYTES] = hint_bytes}};
    int rc = MPI_SUCCESS;
    for (int i = 0; i < window->ghost_count && rc == MPI_SUCCESS; i++)
        rc = tell_ghost(window->ghosts[i], &command, plan, hints, pieces);
    return rc;
}

/* What a member takes of its node's memory where the MPI shares it. */
static MPI_Aint share_of(const struct hw_rma_plan *plan, int64_t size)
{
    return plan->flavor == MPI_WIN_FLAVOR_SHARED ? (MPI_Aint)size : hw_rma_round_up((MPI_Aint)size);
}

/* Where each target's memory lies and who serves it. */
static bool place_targets(struct hw_rma_window *window, const struct hw_rma_plan *plan)
{
    MPI_Aint *node_bytes = calloc((size_t)hw_world.node_count, sizeof *node_bytes);
    int *ghost_places = calloc((size_t)hw_world.size, sizeof *ghost_places);
    for (int i = 0; ghost_places && i < window->ghost_count; i++) {
        ghost_places[window->ghosts[i]] = i;
        if (hw_world.processes[window->ghosts[i]].node == hw_world_own_node() && window->near_count++ == 0)
            window->near_first = i;
    }
    window->targets = calloc((size_t)plan->size, sizeof *window->targets);
    for (int i = 0; node_bytes && ghost_places && window->targets && i < plan->size; i++) {
        struct hw_rma_target *target = &window->targets[i];
        MPI_Aint *bytes = &node_bytes[hw_world.processes[plan->members[i]].node];
        target->offset = *bytes;
        if (plan->is_in_pieces) {
            struct hw_ghost_piece piece = piece_of(&plan->offers[i]);
            target->offset += piece.bytes ? (MPI_Aint)(plan->offers[i].place - piece.place) : 0;
            *bytes += (MPI_Aint)piece.bytes;
        } else if (!plan->is_dynamic) {
            *bytes += share_of(plan, plan->offers[i].size);
        }
        target->size = (MPI_Aint)plan->offers[i].size;
        target->disp_unit = (MPI_Aint)plan->offers[i].disp_unit;
        target->process = plan->members[i];
        target->ghost_in_world = hw_world.processes[target->process].ghost;
        const struct hw_world_process *ghost = &hw_world.processes[target->ghost_in_world];
        target->node = ghost->node;
        if (ghost->node == hw_world_own_node())
            target->bell = hw_ghost_bell_of(ghost->local_index);
        target->ghost = ghost_places[target->ghost_in_world];
    }
    window->sent = calloc((size_t)window->ghost_count, sizeof *window->sent);
    bool is_placed =
        node_bytes && ghost_places && window->targets && window->sent &&
        (plan->is_dynamic ||
         hw_rma_spread_make(window, (enum hw_option_ghost_binding)plan->offers[0].binding, node_bytes));
    free(node_bytes);
    free(ghost_places);
    return is_placed;
}

/* Where ghosts expose the ranges of their node. Of a dynamic window operations name addresses. */
static void place_in_ranges(struct hw_rma_window *window, const struct hw_rma_plan *plan)
{
    for (int i = 0; i < plan->size; i++) {
        const struct hw_rma_offer *offer = &plan->offers[i];
        int local_index = hw_world.processes[window->targets[i].process].local_index;
        int64_t place = plan->is_dynamic ? -offer->range_base : offer->place_in_range;
        window->targets[i].offset =
            (MPI_Aint)(hw_ghost_range_offset(local_index, offer->range_bytes) + place);
    }
}

/* Its own: together with the ghosts. Returns an MPI error code, like the next. */
static int make_shadow(struct hw_rma_window *window, struct hw_rma_plan *plan, MPI_Info hints)
{
    int rc = MPI_SUCCESS;
    bool is_there = plan->is_in_pieces || plan->is_dynamic;
    if (hw_rma_comms_make(&window->comms, !is_there) != HW_OK)
        return MPI_ERR_OTHER;
    if (!is_there)
        rc = hw_bottom.Win_allocate_shared(share_of(plan, plan->own.size), (int)plan->own.disp_unit,
                                           HW_INFO_NULL, window->comms.node, &plan->base, &window->shared);
    if (plan->is_dynamic)
        rc = hw_rma_dynamic_open(window, plan, hints);
    if (rc == MPI_SUCCESS)
        rc = hw_bottom.Win_create(plan->base, (MPI_Aint)plan->own.size, (int)plan->own.disp_unit, hints,
                                  window->comms.window, &window->win);
    if (rc == MPI_SUCCESS && plan->is_dynamic)
        rc = hw_bottom.Win_set_errhandler(window->win, HW_ERRORS_RETURN);
    if (!plan->is_dynamic)
        window->handle = window->win;
    window->first_member = window->ghost_count;
    return rc == MPI_SUCCESS ? hw_bottom.Win_lock_all(MPI_MODE_NOCHECK, window->win) : rc;
}

static int join_common(struct hw_rma_window *window, const struct hw_rma_plan *plan, MPI_Info hints)
{
    window->win = hw_rma_common_win();
    if (plan->is_dynamic)
        return hw_rma_dynamic_open(window, plan, hints);
    return hw_rma_common_make_handle(plan->base, (MPI_Aint)plan->own.size, (int)plan->own.disp_unit, hints,
                                     &window->handle);
}

static int make_windows(struct hw_rma_window *window, struct hw_rma_plan *plan, MPI_Info hints)
{
    int rc = plan->is_common ? join_common(window, plan, hints) : make_shadow(window, plan, hints);
    if (rc == MPI_SUCCESS && !plan->is_dynamic)
        hw_rma_nearby_find(window, plan->base);
    if (plan->is_dynamic || plan->is_common)
        place_in_ranges(window, plan);
    hw_rma_route_place(window, plan);
    return rc;
}

static int make_with_hints(struct hw_rma_window *window, struct hw_rma_plan *plan, MPI_Info info)
{
    char text[HINT_BYTES_MAX];
    int hint_bytes = hw_rma_hints_pack(info, text, sizeof text);
    MPI_Info hints = hw_rma_hints_unpack(text, hint_bytes);
    int rc = enter_gate(window, plan->comm);
    if (rc == MPI_SUCCESS && window->rank == 0 && !plan->is_common)
        rc = tell_ghosts(window, plan, text, hint_bytes, plan->pieces);
    if (rc == MPI_SUCCESS)
        rc = make_windows(window, plan, hints);
    leave_gate(window, plan->comm);
    if (hints != HW_INFO_NULL)
        hw_bottom.Info_free(&hints);
    return rc;
}

/* Fences and PSCW need a communicator of the user processes. Where no thread may free another window at once,
 * the end of the window can do without (meet_by_messages). */
static void choose_users(struct hw_rma_window *window, const struct hw_rma_plan *plan)
{
    int number = plan->is_whole && !window->is_multithreaded ? hw_rma_number_take() : -1;
    if (number >= 0) {
        window->users = hw_world.users;
        window->number = number;
        return;
    }
    window->owns_users =
        (window->epoch_types & (HW_RMA_EPOCH_FENCE | HW_RMA_EPOCH_PSCW)) || window->is_multithreaded;
    window->users = HW_COMM_NULL;
    hw_rma_plan_count_own_comms(window->owns_users);
}

/* What of a window needs memory and nobody else, and room for what is told of it. */
static bool fill_window(struct hw_rma_window *window, struct hw_rma_plan *plan)
{
    const int *members = plan->is_common ? hw_world.user_ranks : plan->members;
    int member_count = plan->is_common ? hw_world.user_count : plan->size;
    window->ghosts = hw_rma_ghosts_of(members, member_count, &window->ghost_count);
    if (window->ghosts == NULL || !place_targets(window, plan) ||
        !hw_rma_comms_prepare(plan->is_whole || plan->is_common ? NULL : plan->members, plan->size,
                              &window->comms))
        return false;
    if (plan->is_dynamic)
        return hw_rma_dynamic_make(window, plan);
    if (!plan->is_in_pieces)
        return true;
    window->pieces = calloc((size_t)plan->size, sizeof *window->pieces);
    plan->pieces = calloc((size_t)plan->size, sizeof *plan->pieces);
    if (window->pieces == NULL || plan->pieces == NULL)
        return false;
    window->piece_count = find_pieces(plan, hw_world_own_node(), window->pieces);
    return true;
}

static void free_tables(struct hw_rma_window *window)
{
    hw_rma_spread_free(window);
    pthread_mutex_destroy(&window->mutex);
    free(window->pieces);
    free(window->ghosts);
    free(window->sent);
    free(window->targets);
    free(window);
}

/* A window that no MPI has heard of. */
static void forget_window(struct hw_rma_window *window)
{
    hw_rma_comms_free(&window->comms);
    free(window->dynamic);
    free_tables(window);
}

/* Of a window that could not be made together, what is this process's alone. Its communicators and windows
 * stay, and so does its number: all would have to free them, and others may have made theirs. */
static void abandon_window(struct hw_rma_window *window)
{
    window->comms.window = window->comms.node = HW_COMM_NULL;
    hw_ghost_node_memory_unmap(window->mapped, window->pieces, window->piece_count, 0);
    if (window->group != HW_GROUP_NULL)
        hw_bottom.Group_free(&window->group);
    forget_window(window);
}

/* By this process alone. NULL: no memory. */
static struct hw_rma_window *begin_window(struct hw_rma_plan *plan)
{
    struct hw_rma_window *window = calloc(1, sizeof *window);
    if (window == NULL)
        return NULL;
    window->id = plan->offers[0].id;
    window->rank = plan->rank;
    window->size = plan->size;
    window->flavor = plan->flavor;
    window->shared = window->win = window->handle = HW_WIN_NULL;
    window->users = HW_COMM_NULL;
    window->group = HW_GROUP_NULL;
    window->hints = HW_INFO_NULL;
    window->is_common = plan->is_common;
    window->comms.is_world = true; /* nothing of its own yet */
    window->start_count = window->post_count = -1;
    hw_atomic_store_relaxed(&window->generation, 1);
    pthread_mutex_init(&window->mutex, NULL);
    window->may_defer = true;
    for (int i = 0; i < plan->size; i++) {
        window->epoch_types |= plan->offers[i].epoch_types;
        window->is_multithreaded = window->is_multithreaded || plan->offers[i].is_multithreaded;
        window->may_defer = window->may_defer && plan->offers[i].may_defer && !window->is_multithreaded;
    }
    if (fill_window(window, plan))
        return window;
    forget_window(window);
    return NULL;
}

/* Together with the other members. Returns an MPI error code. */
static int make_window(struct hw_rma_window *window, struct hw_rma_plan *plan, MPI_Info info)
{
    choose_users(window, plan);
    window->group = plan->group;
    plan->group = HW_GROUP_NULL;
    /* Not MPI_Comm_dup: it would run the program's attribute callbacks. */
    int rc =
        window->owns_users ? hw_bottom.Comm_split(plan->comm, 0, plan->rank, &window->users) : MPI_SUCCESS;
    return rc == MPI_SUCCESS ? make_with_hints(window, plan, info) : rc;
}

/* What is the same for all windows, after `status` was judged: HW_DECLINED, or *rc is what the program gets.
 */
static enum hw_status make(struct hw_rma_plan *plan, enum hw_status status, MPI_Info info, MPI_Win *win,
                           int *rc)
{
    plan->own.epoch_types = hw_rma_epoch_types_read(info);
    plan->own.is_multithreaded = hw_rma_may_have_threads();
    plan->own.may_defer = hw_options.defer == HW_OPTION_DEFER_ON;
    plan->own.binding = (int32_t)hw_options.ghost_binding;
    plan->own.adapt = (int32_t)hw_options.adapt;
    plan->own.page_bytes = (int32_t)sysconf(_SC_PAGESIZE);
    plan->own.wish = (int32_t)hw_rma_wish_read(info);
    plan->own.may_use_owner = hw_rma_route_may_use_owner();
    plan->own.changes_at_barriers = hw_rma_route_changes_at_barriers();
    plan->own.begins_by_owner = hw_rma_route_begins_by_owner();
    plan->own.foreseen_ns = hw_rma_route_foreseen_ns();
    if (plan->own.wish == HW_RMA_WISH_OFF && !plan->own.may_use_owner)
        plan->own.consent = HW_RMA_REFUSED;
    if (status == HW_OK)
        status = hw_rma_plan_agree(plan);
    if (status == HW_DECLINED)
        return status;
    *rc = MPI_ERR_OTHER;
    struct hw_rma_window *window = NULL;
    if (status == HW_OK) {
        window = begin_window(plan);
        bool have_all = hw_rma_plan_all_have_memory(plan, window != NULL);
        if (window == NULL)
            return HW_DECLINED;
        if (!have_all) {
            forget_window(window);
            return HW_DECLINED;
        }
        *rc = make_window(window, plan, info);
    }
    if (*rc == MPI_SUCCESS && !hw_rma_window_enter(window))
        *rc = MPI_ERR_NO_MEM;
    if (*rc != MPI_SUCCESS) {
        if (window)
            abandon_window(window);
        hw_log_error("a window could not be made together with the ghosts; run without HEADWAY_GHOSTS");
        hw_bottom.Comm_call_errhandler(plan->comm, *rc);
        return HW_OK;
    }
    HW_COUNT(windows_redirected);
    window->is_apart = plan->flavor == MPI_WIN_FLAVOR_SHARED && hw_rma_window_may_be_apart(info);
    if (window->is_apart && plan->own.size == 0)
        plan->base = NULL;
    window->base = plan->base;
    hw_rma_window_set_info(window, info);
    if (plan->is_in_pieces) {
        hw_rma_plan_count_in_pieces(1);
        window->taken = plan->taken;
        plan->taken = NULL;
    } else if (window->shared != HW_WIN_NULL) {
        hw_bottom.Win_set_errhandler(window->shared, HW_ERRORS_RETURN);
    }
    *win = window->handle;
    return HW_OK;
}

/* The real call raises the error of what is refused here. */
static bool is_plausible(MPI_Aint size, MPI_Aint disp_unit)
{
    return size >= 0 && disp_unit > 0 && disp_unit == (int)disp_unit;
}

enum hw_status hw_rma_window_allocate(int flavor, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
                                      MPI_Comm comm, void *baseptr, MPI_Win *win, int *rc)
{
    struct hw_rma_plan plan = {
        .comm = comm, .group = HW_GROUP_NULL, .flavor = flavor, .own = {.place = -1, .place_in_range = -1}};
    if (!is_plausible(size, disp_unit))
        return HW_DECLINED;
    plan.own.size = size;
    plan.own.disp_unit = disp_unit;
    enum hw_status status = hw_rma_plan_judge(&plan);
    if (status == HW_OK)
        hw_rma_plan_take_memory(&plan, info);
    status = make(&plan, status, info, win, rc);
    if (plan.taken)
        hw_arena_give(plan.taken);
    hw_rma_plan_end(&plan);
    if (status == HW_OK && *rc == MPI_SUCCESS)
        memcpy(baseptr, &plan.base, sizeof plan.base);
    return status;
}

enum hw_status hw_rma_window_create(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
                                    MPI_Comm comm, MPI_Win *win, int *rc)
{
    struct hw_rma_plan plan = {.comm = comm,
                               .group = HW_GROUP_NULL,
                               .flavor = MPI_WIN_FLAVOR_CREATE,
                               .base = base,
                               .own = {.place = -1, .place_in_range = -1}};
    if (!is_plausible(size, disp_unit))
        return HW_DECLINED;
    plan.own.size = size;
    plan.own.disp_unit = disp_unit;
    hw_rma_plan_find_place(&plan);
    if (!hw_arena_is_open)
        plan.own.consent = HW_RMA_NO_ARENA;
    else if (plan.own.place < 0)
        plan.own.consent = HW_RMA_UNREACHABLE;
    else if (!hw_rma_plan_may_be_in_pieces())
        plan.own.consent = HW_RMA_TOO_MANY;
    enum hw_status status = make(&plan, hw_rma_plan_judge(&plan), info, win, rc);
    hw_rma_plan_end(&plan);
    return status;
}

enum hw_status hw_rma_window_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win, int *rc)
{
    struct hw_rma_plan plan = {
        .comm = comm, .group = HW_GROUP_NULL, .flavor = MPI_WIN_FLAVOR_DYNAMIC, .is_dynamic = true};
    plan.own.disp_unit = 1;
    hw_rma_dynamic_offer(&plan.own);
    enum hw_status status = make(&plan, hw_rma_plan_judge(&plan), info, win, rc);
    hw_rma_plan_end(&plan);
    return status;
}

static void end_window(struct hw_rma_window *window)
{
    hw_rma_plan_count_own_comms(-(int)window->owns_users);
    if (window->owns_users)
        hw_bottom.Comm_free(&window->users);
    else if (window->users != HW_COMM_NULL)
        hw_rma_number_give(window->number);
    if (window->hints != HW_INFO_NULL)
        hw_bottom.Info_free(&window->hints);
    hw_bottom.Group_free(&window->group);
    hw_ghost_node_memory_unmap(window->mapped, window->pieces, window->piece_count, 0);
    if (window->taken)
        hw_arena_give(window->taken);
    if (window->piece_count > 0)
        hw_rma_plan_count_in_pieces(-1);
    free(window->start_ranks);
    free(window->post_requests);
    free_tables(window);
}

/* By messages of ours, of which window after window has its own in the same order everywhere. In each round
 * the process hears, at once or through others, of twice as many. */
static int meet_by_messages(const struct hw_rma_window *window)
{
    int rc = MPI_SUCCESS;
    for (int step = 1; step < window->size && rc == MPI_SUCCESS; step *= 2) {
        int next = window->targets[(window->rank + step) % window->size].process;
        int previous = window->targets[(window->rank - step + window->size) % window->size].process;
        rc = hw_bottom.Sendrecv(NULL, 0, HW_BYTE, next, HW_RMA_TAG_MEET, NULL, 0, HW_BYTE, previous,
                                HW_RMA_TAG_MEET, hw_world.all, HW_STATUS_IGNORE);
    }
    return rc;
}

static int end_epochs(const struct hw_rma_window *window)
{
    int rc = window->is_common ? MPI_SUCCESS : hw_bottom.Win_unlock_all(window->win);
    if (rc == MPI_SUCCESS && window->handle != window->win)
        rc = hw_real.Win_unlock_all(window->handle);
    return rc;
}

static void tell_ghosts_free(const struct hw_rma_window *window)
{
    struct hw_ghost_command command = {.tag = HW_RMA_TAG_FREE, .id = window->id};
    for (int i = 0; window->rank == 0 && !window->is_common && i < window->ghost_count; i++)
        hw_ghost_tell(window->ghosts[i], &command);
}

/* The handle with the program's callbacks. */
static int free_windows(struct hw_rma_window *window, MPI_Win *handle)
{
    int rc = MPI_SUCCESS;
    if (window->dynamic)
        rc = hw_rma_dynamic_free(window, handle);
    else if (window->is_common && *handle != HW_WIN_NULL)
        rc = hw_real.Win_free(handle);
    if (rc == MPI_SUCCESS && !window->is_common)
        rc = hw_real.Win_free(window->handle == window->win ? handle : &window->win);
    if (window->shared != HW_WIN_NULL)
        hw_bottom.Win_free(&window->shared);
    hw_rma_comms_free(&window->comms);
    return rc;
}

/* Of operations whose flush failed, or which the program left to MPI_Finalize. */
static void forget_under_way(const struct hw_rma_window *window)
{
    unsigned count = hw_atomic_load_relaxed(&window->under_way);
    hw_request_nameless_take(count);
    hw_request_nameless_end(count);
}

/* MPICH runs the program's functions of attributes first of all, and frees nothing where one fails. They use
 * the window as before. A handle that is this process's alone can go first, too. */
static bool goes_first(const struct hw_rma_window *window)
{
    return HW_REAL_DELETES_OF_WINDOW_FIRST && window->is_common && !window->dynamic;
}

/* With a handler of the program's MPICH 5 returns MPI_SUCCESS for what it refused. */
static int free_handle(const struct hw_rma_window *window, MPI_Win *handle)
{
    int rc = end_epochs(window);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = hw_real.Win_free(handle);
    if (*handle != HW_WIN_NULL)
        hw_real.Win_lock_all(MPI_MODE_NOCHECK, *handle);
    return rc;
}

int hw_rma_window_free(struct hw_rma_window *window, MPI_Win *win, bool is_last)
{
    if (hw_rma_window_has_epoch(window))
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    hw_inside_pay();
    bool is_first = goes_first(window) && !is_last;
    int rc = is_first ? free_handle(window, win) : end_epochs(window);
    if (rc != MPI_SUCCESS || (is_first && *win != HW_WIN_NULL))
        return rc;
    if (is_first) /* another window may have the handle */
        hw_rma_window_leave(window);
    rc = window->users == HW_COMM_NULL ? meet_by_messages(window) : hw_bottom.Barrier(window->users);
    if (rc != MPI_SUCCESS)
        return rc;
    bool has_gate = needs_gate(window);
    if (has_gate)
        hw_ghost_gate_enter();
    tell_ghosts_free(window);
    if (!is_first)
        hw_rma_window_leave(window);
    HW_COUNT_ADD(operations_redirected, hw_atomic_exchange_seq_cst(&window->op_count, 0));
    rc = free_windows(window, win);
    hw_rma_route_end(window);
    if (has_gate)
        hw_ghost_gate_leave();
    forget_under_way(window);
    end_window(window);
    return rc;
}
