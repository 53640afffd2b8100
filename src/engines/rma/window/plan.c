/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/window/plan.h"

#include "base/atomic.h"
#include "base/options.h"
#include "engines/rma/window/common.h"
#include "engines/rma/window/facts.h"
#include "engines/rma/window/protocol.h"
#include "engines/rma/window/wish.h"
#include "profile/record.h"
#include "real/alignment.h"
#include "real/constants.h"
#include "real/detect.h"
#include "real/quirks.h"
#include "shm/arena.h"
#include "world/world.h"

#include <stdlib.h>

/* More pieces in one process would come near the mappings that the kernel allows it (65530): in a ghost, or
 * where the shadow window is the common one in its user processes. */
enum { PIECES_MAX = 16384, TRANSLATED_AT_ONCE = 64 };

/* MPICH and Intel MPI have 2048 communicators and windows in all. A window with a communicator of its own
 * takes two to five of them, where without ghosts it would take one. */
enum { OWN_COMMS_MAX = 256 };

static atomic_int live_in_pieces; /* windows of this process */
static atomic_int live_own_comms; /* likewise */
static atomic_int live_declined;  /* likewise; ghosts are no members of them */

void hw_rma_plan_end(struct hw_rma_plan *plan)
{
    if (plan->group != HW_GROUP_NULL)
        hw_bottom.Group_free(&plan->group);
    free(plan->members);
    free(plan->pieces);
    free(plan->offers);
}

static enum hw_status decline(const char *reason)
{
    hw_record_declined(reason);
    return HW_DECLINED;
}

/* As ranks in hw_world.all, of some members from `first` on. False: one is not of it. */
static bool translate(struct hw_rma_plan *plan, MPI_Group all, int first, int count)
{
    int own[TRANSLATED_AT_ONCE] = {0}, found[TRANSLATED_AT_ONCE];
    for (int i = 0; i < count; i++)
        own[i] = first + i;
    if (hw_bottom.Group_translate_ranks(plan->group, count, own, all, found) != MPI_SUCCESS)
        return false;
    for (int i = 0; i < count; i++) {
        if (found[i] == HW_UNDEFINED)
            return false;
        if (first + i == 0)
            plan->first_node = hw_world.processes[found[i]].node;
        plan->is_one_node = plan->is_one_node && hw_world.processes[found[i]].node == plan->first_node;
        if (plan->members)
            plan->members[first + i] = found[i];
    }
    return true;
}

/* Who takes part. What is judged from it needs no memory: a member without judges as the others do. */
static enum hw_status find_members(struct hw_rma_plan *plan)
{
    MPI_Group all;
    int result = MPI_UNEQUAL;
    bool is_known = true;
    if (hw_bottom.Comm_group(hw_world.all, &all) != MPI_SUCCESS)
        return HW_DECLINED;
    plan->members = calloc((size_t)plan->size, sizeof *plan->members);
    plan->is_one_node = true;
    for (int first = 0; first < plan->size && is_known; first += TRANSLATED_AT_ONCE) {
        int rest = plan->size - first;
        is_known = translate(plan, all, first, rest < TRANSLATED_AT_ONCE ? rest : TRANSLATED_AT_ONCE);
    }
    hw_bottom.Group_free(&all);
    if (is_known && plan->size == hw_world.user_count) {
        MPI_Group users;
        hw_bottom.Comm_group(hw_world.users, &users);
        hw_bottom.Group_compare(plan->group, users, &result);
        hw_bottom.Group_free(&users);
    }
    plan->is_whole = result == MPI_IDENT;
    return is_known ? HW_OK : HW_DECLINED;
}

static enum hw_status judge_gain(const struct hw_rma_plan *plan)
{
    bool is_mpis_memory = plan->flavor == MPI_WIN_FLAVOR_ALLOCATE || plan->flavor == MPI_WIN_FLAVOR_SHARED;
    if (is_mpis_memory && plan->is_one_node && hw_real_is_node_rma_direct())
        return decline("a window within one node, where this MPI loads and stores directly");
    if (plan->flavor != MPI_WIN_FLAVOR_ALLOCATE && plan->size == 1)
        return decline("a window of one process alone");
    if (!is_mpis_memory && plan->is_one_node && !hw_real_is_accumulate_one_request())
        return decline("a window within one node, where accumulates of Open MPI are slower through a ghost");
    return HW_OK;
}

enum hw_status hw_rma_plan_judge(struct hw_rma_plan *plan)
{
    int is_inter;
    if (hw_options.redirect == HW_OPTION_REDIRECT_OFF)
        return decline("windows are not redirected: HEADWAY_REDIRECT=off");
    if (!hw_real_is_window_sound())
        return decline(
            "Open MPI 4 loses one-sided operations on windows of any but its shared-memory component");
    if (plan->comm == HW_COMM_NULL) /* an error, which the real call raises: once */
        return HW_DECLINED;
    if (hw_bottom.Comm_test_inter(plan->comm, &is_inter) != MPI_SUCCESS || is_inter ||
        hw_bottom.Comm_group(plan->comm, &plan->group) != MPI_SUCCESS)
        return HW_DECLINED;
    hw_bottom.Group_rank(plan->group, &plan->rank);
    hw_bottom.Group_size(plan->group, &plan->size);
    if (find_members(plan) != HW_OK)
        return decline("a window with processes that were started or connected later");
    if (plan->flavor == MPI_WIN_FLAVOR_SHARED && !plan->is_one_node)
        return HW_DECLINED; /* an error, which the real call raises */
    return hw_options.redirect == HW_OPTION_REDIRECT_AUTO ? judge_gain(plan) : HW_OK;
}

/* Whether one more window can be in pieces. What a ghost maps are the pieces of all windows of all processes
 * of its node. */
bool hw_rma_plan_may_be_in_pieces(void)
{
    int users = hw_world_own_user_count();
    return hw_arena_is_open && hw_atomic_load_relaxed(&live_in_pieces) < PIECES_MAX / users;
}

void hw_rma_plan_count_in_pieces(int change) { hw_atomic_add_relaxed(&live_in_pieces, change); }

void hw_rma_plan_count_own_comms(int change) { hw_atomic_add_relaxed(&live_own_comms, change); }

void hw_rma_count_declined(int change) { hw_atomic_add_relaxed(&live_declined, change); }

static bool has_wish_off(const struct hw_rma_plan *plan)
{
    for (int i = 0; i < plan->size; i++)
        if (plan->offers[i].wish == HW_RMA_WISH_OFF)
            return true;
    return false;
}

/* The consent of all, alike at all of them. */
static enum hw_status judge_offers(struct hw_rma_plan *plan)
{
    static const char *const reasons[] = {
        [HW_RMA_REFUSED] = "a window whose hints ask for no redirection",
        [HW_RMA_NO_MEMORY] = "a window as large as no memory is left for",
        [HW_RMA_UNREACHABLE] = "a window of MPI_Win_create with memory that no ghost can reach: "
                               "not from MPI_Alloc_mem or MPI_Win_allocate, or aligned to more than a page",
        [HW_RMA_NO_ARENA] = "a window of MPI_Win_create with memory that no ghost can reach: what "
                            "MPI_Alloc_mem gives here is the MPI's own (doc/guide/ghosts.md says why)",
        [HW_RMA_TOO_MANY] = "a window beside so many others that its ghosts could not map them all",
        [HW_RMA_BESIDE] = HW_REAL_CONFUSED_WINDOW,
        [HW_RMA_ALIGNED] = "a window whose memory is to be aligned to more than a page",
        [HW_RMA_EXTENDED] = "a window of a program that may call operations of no standard on it",
        [HW_RMA_CROWDED] = "a window beside so many others with a communicator of their own",
    };
    bool has_range = false;
    plan->is_in_pieces = plan->may_use_owner = plan->changes_at_barriers = !plan->is_dynamic;
    plan->is_common = hw_rma_common_is_there();
    for (int i = 0; i < plan->size; i++) {
        if (plan->offers[i].consent != HW_RMA_WILLING)
            return decline(reasons[plan->offers[i].consent]);
        plan->is_in_pieces = plan->is_in_pieces && plan->offers[i].place >= 0;
        plan->is_common = plan->is_common && (plan->is_dynamic || plan->offers[i].place_in_range >= 0);
        plan->may_use_owner = plan->may_use_owner && plan->offers[i].may_use_owner;
        plan->changes_at_barriers = plan->changes_at_barriers && plan->offers[i].changes_at_barriers;
        has_range = has_range || plan->offers[i].range_bytes > 0;
    }
    if (!plan->may_use_owner && has_wish_off(plan))
        return decline(reasons[HW_RMA_REFUSED]);
    if (plan->is_dynamic && !has_range)
        return decline("a window of MPI_Win_create_dynamic where memory cannot be told from its addresses");
    if (!plan->is_common && hw_rma_common_is_there() && hw_real_confuses_windows() && !plan->is_one_node)
        return decline(reasons[HW_RMA_BESIDE]);
    return HW_OK;
}

bool hw_rma_plan_all_have_memory(const struct hw_rma_plan *plan, bool has_own)
{
    bool have_all = hw_world_have_all(plan->comm, has_own);
    if (!have_all)
        decline("a window of which a process has no memory left to keep account");
    return have_all;
}

enum hw_status hw_rma_plan_agree(struct hw_rma_plan *plan)
{
    static atomic_uint serial;
    plan->own.id = ((uint64_t)hw_world.rank << 32) | hw_atomic_add_relaxed(&serial, 1);
    plan->offers = calloc((size_t)plan->size, sizeof *plan->offers);
    if (!hw_rma_plan_all_have_memory(plan, plan->members && plan->offers))
        return HW_DECLINED;
    if (plan->own.consent == HW_RMA_WILLING && hw_atomic_load_relaxed(&live_declined) > 0 &&
        !hw_rma_common_is_there() && hw_real_confuses_windows() && !plan->is_one_node)
        plan->own.consent = HW_RMA_BESIDE;
    if (plan->own.consent == HW_RMA_WILLING && hw_rma_has_foreign_operations)
        plan->own.consent = HW_RMA_EXTENDED;
    if (plan->own.consent == HW_RMA_WILLING && hw_atomic_load_relaxed(&live_own_comms) >= OWN_COMMS_MAX)
        plan->own.consent = HW_RMA_CROWDED;
    if (hw_bottom.Allgather(&plan->own, sizeof plan->own, HW_BYTE, plan->offers, sizeof plan->own, HW_BYTE,
                            plan->comm) != MPI_SUCCESS)
        return HW_MPI;
    return judge_offers(plan);
}

void hw_rma_plan_find_place(struct hw_rma_plan *plan)
{
    struct hw_arena_range range = hw_arena_range();
    size_t size = (size_t)plan->own.size, before = (size_t)((uintptr_t)plan->base - (uintptr_t)range.base);
    plan->own.range_bytes = (int64_t)range.bytes;
    if (size == 0)
        plan->own.place = plan->own.place_in_range = 0;
    else if (plan->base)
        plan->own.place = hw_arena_find(plan->base, size);
    if (size > 0 && plan->own.place >= 0 && before < range.bytes)
        plan->own.place_in_range = (int64_t)before;
}

void hw_rma_plan_take_memory(struct hw_rma_plan *plan, MPI_Info info)
{
    size_t size = (size_t)plan->own.size;
    if (hw_real_alignment_asked(info) > HW_RMA_ALIGNMENT) { /* that is what the arena gives */
        plan->own.consent = HW_RMA_ALIGNED;
        return;
    }
    if (plan->flavor == MPI_WIN_FLAVOR_SHARED || !hw_rma_plan_may_be_in_pieces())
        return;
    if (size > 0)
        plan->base = plan->taken = hw_arena_take_zeroed(size, HW_RMA_ALIGNMENT);
    if (size > 0 && plan->taken == NULL)
        plan->own.consent = HW_RMA_NO_MEMORY;
    hw_rma_plan_find_place(plan);
}
