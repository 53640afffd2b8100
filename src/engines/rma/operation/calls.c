/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations as engines are asked for them (MPI-4.1 section 12.3): on a window that ghosts serve
 * the target becomes its ghost. Get becomes Rget, Accumulate Raccumulate and so on where a flush may sleep
 * until they are complete (epoch/flush_wait.h). */
#include "engines/rma/operation/calls.h"

#include "engines/rma/adapt/measure.h"
#include "engines/rma/epoch/flush_wait.h"
#include "engines/rma/epoch/owed.h"
#include "engines/rma/epoch/under_way.h"
#include "engines/rma/operation/await.h"
#include "engines/rma/operation/layout.h"
#include "engines/rma/operation/near.h"
#include "engines/rma/operation/near_accumulate.h"
#include "engines/rma/operation/pieces.h"
#include "engines/rma/operation/redirect.h"
#include "engines/rma/operation/requests.h"
#include "engines/rma/window/table.h"
#include "real/basic_type.h"

static inline enum hw_route_kind kind_of(enum hw_rma_class class)
{
    if (class == HW_RMA_SINGLE)
        return HW_ROUTE_ATOMIC;
    return class == HW_RMA_ACCUMULATE ? HW_ROUTE_ACCUMULATE : HW_ROUTE_MOVE;
}

/* HW_DECLINES: the target has become its ghost, and the real call is to be made. */
static inline int redirect(struct hw_rma_shape shape, struct hw_rma_window *window, MPI_Win *win,
                           int *target_rank, MPI_Aint *target_disp)
{
    hw_rma_adapt_begin(window, kind_of(shape.class), *target_rank, shape.count, shape.datatype);
    int rc = hw_rma_redirect(window, win, target_rank, target_disp, &shape);
    return rc == MPI_SUCCESS ? HW_DECLINES : rc;
}

/* The same of a Put or Get, which may be done near. `request`: NULL, not request-based. */
static inline int settle(enum hw_rma_class class, struct hw_rma_part origin, struct hw_rma_part target,
                         struct hw_rma_window *window, MPI_Win *win, MPI_Request *request, int *target_rank,
                         MPI_Aint *target_disp)
{
    int rc;
    bool is_done = false;
    if (hw_rma_is_near(window, *target_rank))
        is_done = class == HW_RMA_PUT
                      ? hw_rma_near_put(window, origin, *target_rank, *target_disp, target, request, &rc)
                      : hw_rma_near_get(window, origin, *target_rank, *target_disp, target, request, &rc);
    if (is_done)
        return rc;
    return redirect(
        (struct hw_rma_shape){
            .class = class, .count = target.count, .datatype = target.type, .has_request = request != NULL},
        window, win, target_rank, target_disp);
}

/* Passes on what the real call on the window `on` returned, of an operation without a request on the
 * program's `target`. */
static inline int made(struct hw_rma_window *window, MPI_Win on, int target, MPI_Count count,
                       MPI_Datatype datatype, bool is_get, int rc)
{
    hw_rma_adapt_end(window);
    if (__builtin_expect(rc == MPI_SUCCESS, 1))
        hw_rma_under_way_note(window, on, target, count, datatype, is_get);
    return hw_rma_pass(window, on, rc);
}

/* The same of one that is not followed until a flush. */
static inline int passed(struct hw_rma_window *window, MPI_Win on, int rc)
{
    hw_rma_adapt_end(window);
    return hw_rma_pass(window, on, rc);
}

/* Tells of a request-based one, if making it went well. `bell`: of the ghost of this node that has to serve
 * it. */
static inline int posted(int rc, MPI_Count count, MPI_Datatype datatype, const MPI_Request *request,
                         const struct hw_ghost_bell *bell)
{
    if (rc != MPI_SUCCESS)
        return rc;
    if (hw_engine_is_on())
        hw_engines_post_rma(count, datatype, *request);
    else if (bell) /* a door is to know of it all the same */
        hw_request_post(*request, HW_REQUEST_RMA, hw_engines_bytes(count, datatype));
    hw_rma_requests_note(bell);
    return rc;
}

static int put(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    int target = target_rank;
    MPI_Win on = win;
    struct hw_rma_window *window = hw_rma_find(win);
    hw_rma_owed_before(window, target_rank);
    if (window == NULL)
        return HW_DECLINES;
    int rc = settle(HW_RMA_PUT, (struct hw_rma_part){origin_addr, origin_count, origin_datatype},
                    (struct hw_rma_part){NULL, target_count, target_datatype}, window, &on, NULL,
                    &target_rank, &target_disp);
    if (rc != HW_DECLINES)
        return rc;
    return made(window, on, target, origin_count, origin_datatype, false,
                hw_real_put(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                            target_count, target_datatype, on));
}

static int get(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    int target = target_rank;
    MPI_Win on = win;
    struct hw_rma_window *window = hw_rma_find(win);
    hw_rma_owed_before(window, target_rank);
    if (window == NULL)
        return HW_DECLINES;
    int rc = settle(HW_RMA_GET, (struct hw_rma_part){origin_addr, origin_count, origin_datatype},
                    (struct hw_rma_part){NULL, target_count, target_datatype}, window, &on, NULL,
                    &target_rank, &target_disp);
    if (rc != HW_DECLINES)
        return rc;
    MPI_Request *request = hw_rma_flush_wait_place(window, target_rank);
    return made(window, on, target, origin_count, origin_datatype, true,
                request ? hw_real_rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                                       target_count, target_datatype, on, request)
                        : hw_real_get(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                                      target_count, target_datatype, on));
}

/* An accumulate with all its arguments: applied here, made in pieces, or HW_DECLINES with its target
 * turned into its ghost. */
static int try_accumulate(struct hw_rma_window *window, MPI_Win *win, int *target_rank, MPI_Aint *target_disp,
                          const struct hw_rma_accumulate *call)
{
    int rc, target = *target_rank;
    if (hw_rma_near_accumulate(window, target, *target_disp, call, &rc))
        return rc;
    rc = redirect((struct hw_rma_shape){.class = HW_RMA_ACCUMULATE,
                                        .count = call->target.count,
                                        .datatype = call->target.type},
                  window, win, target_rank, target_disp);
    if (rc == HW_DECLINES && __builtin_expect(*target_rank == HW_RMA_SEVERAL, 0))
        return hw_rma_pieces_make(window, target, *target_disp, call);
    return rc;
}

/* MPI_Accumulate raises an error where the two have other elements, on MPICH 5 MPI_Raccumulate does not. */
static bool have_same_elements(MPI_Datatype one, MPI_Datatype other)
{
    if (one == other)
        return true;
    if (one == HW_DATATYPE_NULL || other == HW_DATATYPE_NULL)
        return false;
    MPI_Datatype element = hw_rma_layout_element(one);
    return element != HW_DATATYPE_NULL && element == hw_rma_layout_element(other);
}

static int accumulate(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    int target = target_rank;
    MPI_Win on = win;
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    struct hw_rma_accumulate call = {.origin = {origin_addr, origin_count, origin_datatype},
                                     .target = {NULL, target_count, target_datatype},
                                     .op = op};
    int rc = try_accumulate(window, &on, &target_rank, &target_disp, &call);
    if (rc != HW_DECLINES)
        return rc;
    MPI_Request *request = NULL;
    if (hw_rma_flush_wait_is_on && have_same_elements(origin_datatype, target_datatype))
        request = hw_rma_flush_wait_place(window, target_rank);
    return made(window, on, target, origin_count, origin_datatype, false,
                HW_RMA_AWAITED(
                    hw_rma_await_bell(window, target, on, target_rank),
                    request ? hw_real_raccumulate(origin_addr, origin_count, origin_datatype, target_rank,
                                                  target_disp, target_count, target_datatype, op, on, request)
                            : hw_real_accumulate(origin_addr, origin_count, origin_datatype, target_rank,
                                                 target_disp, target_count, target_datatype, op, on)));
}

static int get_accumulate(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                          void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
                          int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                          MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    int target = target_rank;
    MPI_Win on = win;
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    struct hw_rma_accumulate call = {.origin = {origin_addr, origin_count, origin_datatype},
                                     .result = {result_addr, result_count, result_datatype},
                                     .target = {NULL, target_count, target_datatype},
                                     .op = op,
                                     .has_result = true};
    int rc = try_accumulate(window, &on, &target_rank, &target_disp, &call);
    if (rc != HW_DECLINES)
        return rc;
    MPI_Request *request = hw_rma_flush_wait_place(window, target_rank);
    return made(window, on, target, result_count, result_datatype, true,
                HW_RMA_AWAITED(
                    hw_rma_await_bell(window, target, on, target_rank),
                    request ? hw_real_rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr,
                                                      result_count, result_datatype, target_rank, target_disp,
                                                      target_count, target_datatype, op, on, request)
                            : hw_real_get_accumulate(origin_addr, origin_count, origin_datatype, result_addr,
                                                     result_count, result_datatype, target_rank, target_disp,
                                                     target_count, target_datatype, op, on)));
}

static int fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
                        MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
    int rc, target = target_rank;
    MPI_Win on = win;
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    struct hw_rma_accumulate call = {.origin = {origin_addr, 1, datatype},
                                     .result = {result_addr, 1, datatype},
                                     .target = {NULL, 1, datatype},
                                     .op = op,
                                     .has_result = true};
    if (hw_rma_near_accumulate(window, target_rank, target_disp, &call, &rc))
        return rc;
    rc = redirect((struct hw_rma_shape){.class = HW_RMA_SINGLE, .count = 1, .datatype = datatype}, window,
                  &on, &target_rank, &target_disp);
    if (rc != HW_DECLINES)
        return rc;
    /* MPI_Fetch_and_op refuses more than its general form, which alone has a request. */
    MPI_Request *request = NULL;
    if (hw_rma_flush_wait_is_on && origin_addr && result_addr && hw_real_type_operations(datatype))
        request = hw_rma_flush_wait_place(window, target_rank);
    return passed(window, on,
                  HW_RMA_AWAITED(hw_rma_await_bell(window, target, on, target_rank),
                                 request ? hw_real.Rget_accumulate(origin_addr, 1, datatype, result_addr, 1,
                                                                   datatype, target_rank, target_disp, 1,
                                                                   datatype, op, on, request)
                                         : hw_real.Fetch_and_op(origin_addr, result_addr, datatype,
                                                                target_rank, target_disp, op, on)));
}

static int compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
                            MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win)
{
    int rc, target = target_rank;
    MPI_Win on = win;
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    if (hw_rma_near_compare_and_swap(window, target_rank, target_disp, origin_addr, compare_addr, result_addr,
                                     datatype, &rc))
        return rc;
    rc = redirect((struct hw_rma_shape){.class = HW_RMA_SINGLE, .count = 1, .datatype = datatype}, window,
                  &on, &target_rank, &target_disp);
    if (rc != HW_DECLINES)
        return rc;
    return passed(window, on,
                  HW_RMA_AWAITED(hw_rma_await_bell(window, target, on, target_rank),
                                 hw_real.Compare_and_swap(origin_addr, compare_addr, result_addr, datatype,
                                                          target_rank, target_disp, on)));
}

static int rput(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
                MPI_Win win, MPI_Request *request)
{
    int target = target_rank;
    MPI_Win on = win;
    struct hw_rma_window *window = hw_rma_find(win);
    hw_rma_owed_before(window, target_rank);
    if (window == NULL)
        return HW_DECLINES;
    int rc = settle(HW_RMA_PUT, (struct hw_rma_part){origin_addr, origin_count, origin_datatype},
                    (struct hw_rma_part){NULL, target_count, target_datatype}, window, &on, request,
                    &target_rank, &target_disp);
    if (rc != HW_DECLINES)
        return rc;
    rc = passed(window, on,
                hw_real_rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                             target_count, target_datatype, on, request));
    return posted(rc, origin_count, origin_datatype, request,
                  hw_rma_await_bell(window, target, on, target_rank));
}

static int rget(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
                MPI_Request *request)
{
    int target = target_rank;
    MPI_Win on = win;
    struct hw_rma_window *window = hw_rma_find(win);
    hw_rma_owed_before(window, target_rank);
    if (window == NULL)
        return HW_DECLINES;
    int rc = settle(HW_RMA_GET, (struct hw_rma_part){origin_addr, origin_count, origin_datatype},
                    (struct hw_rma_part){NULL, target_count, target_datatype}, window, &on, request,
                    &target_rank, &target_disp);
    if (rc != HW_DECLINES)
        return rc;
    rc = passed(window, on,
                hw_real_rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                             target_count, target_datatype, on, request));
    return posted(rc, origin_count, origin_datatype, request,
                  hw_rma_await_bell(window, target, on, target_rank));
}

static int raccumulate(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                       int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                       MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    int target = target_rank;
    MPI_Win on = win;
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    struct hw_rma_accumulate call = {.origin = {origin_addr, origin_count, origin_datatype},
                                     .target = {NULL, target_count, target_datatype},
                                     .op = op,
                                     .request = request};
    int rc = try_accumulate(window, &on, &target_rank, &target_disp, &call);
    struct hw_ghost_bell *bell = NULL;
    if (rc == HW_DECLINES) {
        bell = hw_rma_await_bell(window, target, on, target_rank);
        rc = passed(window, on,
                    HW_RMA_AWAITED(bell, hw_real_raccumulate(origin_addr, origin_count, origin_datatype,
                                                             target_rank, target_disp, target_count,
                                                             target_datatype, op, on, request)));
    }
    return posted(rc, origin_count, origin_datatype, request, bell);
}

static int rget_accumulate(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                           void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
                           int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                           MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    int target = target_rank;
    MPI_Win on = win;
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    struct hw_rma_accumulate call = {.origin = {origin_addr, origin_count, origin_datatype},
                                     .result = {result_addr, result_count, result_datatype},
                                     .target = {NULL, target_count, target_datatype},
                                     .op = op,
                                     .has_result = true,
                                     .request = request};
    int rc = try_accumulate(window, &on, &target_rank, &target_disp, &call);
    struct hw_ghost_bell *bell = NULL;
    if (rc == HW_DECLINES) {
        bell = hw_rma_await_bell(window, target, on, target_rank);
        rc = passed(window, on,
                    HW_RMA_AWAITED(bell, hw_real_rget_accumulate(origin_addr, origin_count, origin_datatype,
                                                                 result_addr, result_count, result_datatype,
                                                                 target_rank, target_disp, target_count,
                                                                 target_datatype, op, on, request)));
    }
    return posted(rc, result_count, result_datatype, request, bell);
}

const struct hw_engine_rma hw_rma_operation_calls = {
    .put = put,
    .get = get,
    .accumulate = accumulate,
    .get_accumulate = get_accumulate,
    .fetch_and_op = fetch_and_op,
    .compare_and_swap = compare_and_swap,
    .rput = rput,
    .rget = rget,
    .raccumulate = raccumulate,
    .rget_accumulate = rget_accumulate,
};
