/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/operation/pieces.h"

#include "engines/rma/operation/await.h"
#include "engines/rma/operation/dynamic_choose.h"
#include "engines/rma/operation/layout.h"
#include "engines/rma/operation/requests.h"
#include "engines/rma/operation/shape.h"
#include "engines/rma/operation/spread_choose.h"
#include "engines/rma/window/dynamic.h"
#include "engines/rma/window/spread.h"
#include "profile/record/counters.h"
#include "real/type_size.h"

#include <limits.h>
#include <stdlib.h>

/* One buffer of the operation, and the part of it that belongs to the piece at hand. */
struct side {
    struct hw_rma_layout layout;
    bool is_there;
    MPI_Aint shift;    /* of all places in the part's datatype */
    MPI_Datatype type; /* of the part */
};

enum { ORIGIN, RESULT, TARGET, SIDES };

/* An owner of elements is a ghost, as a rank in the window; on a dynamic window enum hw_rma_dynamic_owner. */
struct cut {
    struct hw_rma_window *window;
    int target_rank;
    const struct hw_rma_target *target;
    int first_owner, owner_count;
    MPI_Aint disp;
    const struct hw_rma_accumulate *call;
    MPI_Datatype element;
    MPI_Aint element_extent;
    MPI_Count element_size;
    struct side sides[SIDES];
    MPI_Count from, to; /* elements of the owner at hand (find_range) */
    int *lengths;       /* of runs, and where they begin */
    MPI_Aint *places;
};

static int owner_of(const struct cut *cut, MPI_Count index)
{
    MPI_Aint place = cut->disp + hw_rma_layout_place(&cut->sides[TARGET].layout, index);
    if (cut->window->spread == NULL) /* then it is dynamic */
        return (int)hw_rma_dynamic_owner(cut->window, cut->target_rank, place);
    return hw_rma_span_ghost(hw_rma_spread_span(cut->window, cut->target), place);
}

static bool is_dense(const struct cut *cut, const struct side *side)
{
    return side->layout.places == NULL && side->layout.extent == cut->element_extent;
}

/* The first element of a dense target that does not begin before a place of the node's memory. */
static MPI_Count first_from(const struct cut *cut, MPI_Aint place)
{
    MPI_Count count = cut->sides[TARGET].layout.count;
    MPI_Aint bytes = place - cut->disp;
    if (bytes <= 0)
        return 0;
    MPI_Count index = (bytes + cut->element_extent - 1) / cut->element_extent;
    return index < count ? index : count;
}

/* The first element of an owner and the one behind its last; others' may lie between. False: it has none. */
static bool find_range(struct cut *cut, int owner)
{
    cut->from = 0;
    cut->to = cut->sides[TARGET].layout.count;
    if (cut->window->spread && is_dense(cut, &cut->sides[TARGET])) {
        const struct hw_rma_span *span = hw_rma_spread_span(cut->window, cut->target);
        MPI_Aint segment = owner - span->first;
        if (segment > 0)
            cut->from = first_from(cut, segment * span->segment_bytes);
        if (segment < span->count - 1)
            cut->to = first_from(cut, (segment + 1) * span->segment_bytes);
    }
    while (cut->from < cut->to && owner_of(cut, cut->from) != owner)
        cut->from++;
    return cut->from < cut->to;
}

/* The elements of one owner, as a datatype over a buffer: runs of neighbours. */
static int make_type(struct cut *cut, struct side *side, int owner)
{
    int runs = 0;
    MPI_Aint next = 0;
    bool is_one_run = is_dense(cut, side) && is_dense(cut, &cut->sides[TARGET]);
    if (is_one_run) {
        runs = 1;
        cut->places[0] = hw_rma_layout_place(&side->layout, cut->from) + side->shift;
        cut->lengths[0] = (int)(cut->to - cut->from);
    }
    for (MPI_Count i = cut->from; i < cut->to && !is_one_run; i++) {
        if (owner_of(cut, i) != owner)
            continue;
        MPI_Aint place = hw_rma_layout_place(&side->layout, i) + side->shift;
        if (runs == 0 || place != next) {
            cut->lengths[runs] = 0;
            cut->places[runs++] = place;
        }
        cut->lengths[runs - 1]++;
        next = place + cut->element_extent;
    }
    int rc = hw_bottom.Type_create_hindexed(runs, cut->lengths, cut->places, cut->element, &side->type);
    return rc == MPI_SUCCESS ? hw_bottom.Type_commit(&side->type) : rc;
}

static void free_types(struct cut *cut)
{
    for (int i = 0; i < SIDES; i++)
        if (cut->sides[i].type != HW_DATATYPE_NULL)
            hw_bottom.Type_free(&cut->sides[i].type);
}

/* Where an owner's piece goes. */
struct route {
    MPI_Win win;
    int rank;
    MPI_Aint disp;
};

static struct route route_of(const struct cut *cut, int owner)
{
    const struct hw_rma_window *window = cut->window;
    if (window->dynamic && owner == HW_RMA_OF_TARGET)
        return (struct route){
            .win = window->handle, .rank = hw_rma_dynamic_rank(window, cut->target_rank), .disp = cut->disp};
    if (window->dynamic)
        return (struct route){
            .win = window->win, .rank = cut->target->ghost, .disp = cut->disp + cut->target->offset};
    return (struct route){.win = window->win, .rank = owner, .disp = cut->disp};
}

/* A window with memory of its own takes no negative displacement, which a datatype of absolute addresses
 * needs at the ghost: its places make up for that. */
static void avoid_negative(struct cut *cut, struct route *to)
{
    cut->sides[TARGET].shift = 0;
    if (to->win == cut->window->win && to->disp < 0) {
        cut->sides[TARGET].shift = to->disp;
        to->disp = 0;
    }
}

static int call_real(const struct cut *cut, struct route to, MPI_Request *request)
{
    const struct hw_rma_accumulate *call = cut->call;
    const struct side *origin = &cut->sides[ORIGIN], *result = &cut->sides[RESULT];
    /* With MPI_NO_OP the origin's buffer is not looked at. */
    MPI_Count count = origin->is_there ? 1 : call->origin.count;
    MPI_Datatype datatype = origin->is_there ? origin->type : call->origin.type;
    MPI_Datatype target = cut->sides[TARGET].type;
    if (!call->has_result && request)
        return hw_real_raccumulate(call->origin.address, count, datatype, to.rank, to.disp, 1, target,
                                   call->op, to.win, request);
    if (!call->has_result)
        return hw_real_accumulate(call->origin.address, count, datatype, to.rank, to.disp, 1, target,
                                  call->op, to.win);
    if (request)
        return hw_real_rget_accumulate(call->origin.address, count, datatype, (void *)call->result.address, 1,
                                       result->type, to.rank, to.disp, 1, target, call->op, to.win, request);
    return hw_real_get_accumulate(call->origin.address, count, datatype, (void *)call->result.address, 1,
                                  result->type, to.rank, to.disp, 1, target, call->op, to.win);
}

static int make_piece(struct cut *cut, int owner, MPI_Request *request)
{
    int rc = MPI_SUCCESS;
    struct route to = route_of(cut, owner);
    avoid_negative(cut, &to);
    find_range(cut, owner);
    for (int i = 0; i < SIDES; i++)
        cut->sides[i].type = HW_DATATYPE_NULL;
    for (int i = 0; i < SIDES && rc == MPI_SUCCESS; i++)
        if (cut->sides[i].is_there)
            rc = make_type(cut, &cut->sides[i], owner);
    if (rc == MPI_SUCCESS) {
        MPI_Count bytes = 0;
        hw_bottom.Type_size_x(cut->sides[TARGET].type, &bytes);
        if (cut->window->spread)
            hw_rma_spread_use(cut->window, cut->target, owner, (uint64_t)bytes);
        struct hw_ghost_bell *bell = hw_rma_await_bell(cut->window, cut->target_rank, to.win, to.rank);
        rc = hw_rma_pass(cut->window, to.win, HW_RMA_AWAITED(bell, call_real(cut, to, request)));
        if (request)
            hw_rma_requests_note(bell);
    } else {
        hw_rma_raise(cut->window, rc);
    }
    free_types(cut);
    return rc;
}

/* All but the last without a request of their own: complete, as far as the request would tell, at once. */
static int make_pieces(struct cut *cut)
{
    MPI_Request *request = cut->call->request;
    int last = -1, rc = MPI_SUCCESS;
    for (int i = 0; i < cut->owner_count && rc == MPI_SUCCESS; i++) {
        int owner = cut->first_owner + i;
        if (!find_range(cut, owner))
            continue;
        if (last >= 0) {
            struct route to = route_of(cut, last);
            rc = make_piece(cut, last, NULL);
            if (rc == MPI_SUCCESS && request)
                rc = hw_rma_pass(cut->window, to.win,
                                 cut->call->has_result ? hw_real.Win_flush(to.rank, to.win)
                                                       : hw_real.Win_flush_local(to.rank, to.win));
        }
        last = owner;
    }
    return rc == MPI_SUCCESS ? make_piece(cut, last, request) : rc;
}

/* Room for the runs of any piece. */
static bool reserve_runs(struct cut *cut)
{
    size_t most = 1;
    for (int i = 0; i < SIDES; i++)
        if (cut->sides[i].is_there && !is_dense(cut, &cut->sides[i]))
            most = (size_t)cut->sides[TARGET].layout.count;
    cut->lengths = calloc(most, sizeof *cut->lengths);
    cut->places = calloc(most, sizeof *cut->places);
    return cut->lengths && cut->places;
}

static enum hw_status lay_out(struct cut *cut)
{
    const struct hw_rma_accumulate *call = cut->call;
    MPI_Count lb, extent;
    enum hw_status status = HW_MPI;
    cut->element = hw_rma_layout_element(call->target.type);
    if (cut->element == HW_DATATYPE_NULL ||
        hw_bottom.Type_get_extent_x(cut->element, &lb, &extent) != MPI_SUCCESS)
        return HW_MPI;
    cut->element_extent = (MPI_Aint)extent;
    cut->element_size = (MPI_Count)hw_real_type_size(cut->element);
    cut->sides[TARGET].is_there = true;
    cut->sides[RESULT].is_there = call->has_result;
    cut->sides[ORIGIN].is_there = call->op != HW_NO_OP;
    status = hw_rma_layout_make(call->target.count, call->target.type, cut->element_size,
                                &cut->sides[TARGET].layout);
    if (status == HW_OK && cut->sides[RESULT].is_there)
        status = hw_rma_layout_make(call->result.count, call->result.type, cut->element_size,
                                    &cut->sides[RESULT].layout);
    if (status == HW_OK && cut->sides[ORIGIN].is_there)
        status = hw_rma_layout_make(call->origin.count, call->origin.type, cut->element_size,
                                    &cut->sides[ORIGIN].layout);
    for (int i = 0; status == HW_OK && i < SIDES; i++)
        if (cut->sides[i].is_there && (cut->sides[i].layout.count != cut->sides[TARGET].layout.count ||
                                       cut->sides[i].layout.count > INT_MAX))
            status = HW_MPI;
    return status;
}

int hw_rma_pieces_make(struct hw_rma_window *window, int target_rank, MPI_Aint target_disp,
                       const struct hw_rma_accumulate *call)
{
    struct cut cut = {.window = window,
                      .target_rank = target_rank,
                      .target = &window->targets[target_rank],
                      .owner_count = HW_RMA_OWNERS,
                      .disp = target_disp,
                      .call = call};
    if (window->spread) {
        cut.first_owner = hw_rma_spread_span(window, cut.target)->first;
        cut.owner_count = hw_rma_spread_span(window, cut.target)->count;
    }
    enum hw_status status = lay_out(&cut);
    int rc;
    if (status == HW_OK && !reserve_runs(&cut))
        status = HW_NOMEM;
    HW_COUNT(operations_cut);
    if (status == HW_OK)
        rc = make_pieces(&cut);
    else
        rc = hw_rma_raise(window, status == HW_NOMEM ? MPI_ERR_NO_MEM : MPI_ERR_TYPE);
    for (int i = 0; i < SIDES; i++)
        hw_rma_layout_free(&cut.sides[i].layout);
    free(cut.lengths);
    free(cut.places);
    return rc;
}
