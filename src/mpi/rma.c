/* One-sided operations (MPI-4.1 section 12.3): on a redirected window the target becomes its ghost.
 * Request-based ones are tracked at the origin. A window that is not redirected costs one branch. */
#include "engines/rma/rma.h"
#include "engines/rma/epoch/flush_wait.h"
#include "engines/rma/epoch/owed.h"
#include "engines/rma/operation/layout.h"
#include "engines/rma/operation/near.h"
#include "engines/rma/operation/near_accumulate.h"
#include "engines/rma/operation/pieces.h"
#include "hooks.h"
#include "mpi/track.h"
#include "mpi/under_way.h"
#include "real/basic_type.h"

/* True if the operation must not be made; *rc is what the program gets. `window`: NULL, not redirected. */
static inline bool is_refused(enum hw_rma_class class, MPI_Count count, MPI_Datatype datatype,
                              struct hw_rma_window *window, MPI_Win *win, int *target_rank,
                              MPI_Aint *target_disp, int *rc)
{
    if (__builtin_expect(window == NULL, 1))
        return false;
    *rc = hw_rma_redirect(window, win, target_rank, target_disp,
                          &(struct hw_rma_shape){.class = class, .count = count, .datatype = datatype});
    return *rc != MPI_SUCCESS;
}

/* True if a Put or Get is over without the real call: done near, or refused. `request`: NULL, not
 * request-based. Otherwise the target has become its ghost, on a redirected window. */
static inline bool is_settled(enum hw_rma_class class, struct hw_rma_part origin, struct hw_rma_part target,
                              struct hw_rma_window *window, MPI_Win *win, MPI_Request *request,
                              int *target_rank, MPI_Aint *target_disp, int *rc)
{
    if (__builtin_expect(window == NULL, 1))
        return false;
    bool is_near = class == HW_RMA_PUT
                       ? hw_rma_near_put(window, origin, *target_rank, *target_disp, target, request, rc)
                       : hw_rma_near_get(window, origin, *target_rank, *target_disp, target, request, rc);
    return is_near || is_refused(class, target.count, target.type, window, win, target_rank, target_disp, rc);
}

/* Passes on what the real call on the window `on` returned, of an operation without a request on the
 * program's `target`. */
static inline int made(struct hw_rma_window *window, MPI_Win on, int target, MPI_Count count,
                       MPI_Datatype datatype, bool is_get, int rc)
{
    if (__builtin_expect(rc == MPI_SUCCESS, 1))
        hw_under_way_note(window, on, target, count, datatype, is_get);
    return hw_rma_pass(window, on, rc);
}

/* Passes on what the real call returned. */
static int tracked(int rc, MPI_Count count, MPI_Datatype datatype, const MPI_Request *request)
{
    if (rc == MPI_SUCCESS && hw_engine_is_on()) {
        HW_COUNT(tracked_rma);
        hw_engines_post(HW_REQUEST_RMA, hw_engines_bytes(count, datatype), false, *request);
    }
    return rc;
}

int hw_put(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
           MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    int rc, target = target_rank;
    MPI_Win on = win;
    struct hw_rma_window *window = hw_rma_find(win);
    hw_rma_owed_before(window, target_rank);
    if (is_settled(HW_RMA_PUT, (struct hw_rma_part){origin_addr, origin_count, origin_datatype},
                   (struct hw_rma_part){NULL, target_count, target_datatype}, window, &on, NULL, &target_rank,
                   &target_disp, &rc))
        return rc;
    rc = hw_real_put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                     target_datatype, on);
    return made(window, on, target, origin_count, origin_datatype, false, rc);
}

int hw_get(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
           MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    int rc, target = target_rank;
    MPI_Win on = win;
    struct hw_rma_window *window = hw_rma_find(win);
    hw_rma_owed_before(window, target_rank);
    if (is_settled(HW_RMA_GET, (struct hw_rma_part){origin_addr, origin_count, origin_datatype},
                   (struct hw_rma_part){NULL, target_count, target_datatype}, window, &on, NULL, &target_rank,
                   &target_disp, &rc))
        return rc;
    MPI_Request *request = hw_rma_flush_wait_place(window, target_rank);
    rc = request ? hw_real_rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                                target_count, target_datatype, on, request)
                 : hw_real_get(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                               target_count, target_datatype, on);
    return made(window, on, target, origin_count, origin_datatype, true, rc);
}

/* An accumulate with all its arguments, on a redirected window: applied here, made in pieces, or HW_DECLINED
 * with its target turned into its ghost. */
static enum hw_status try_accumulate(struct hw_rma_window *window, MPI_Win *win, int *target_rank,
                                     MPI_Aint *target_disp, const struct hw_rma_accumulate *call, int *rc)
{
    int target = *target_rank;
    if (hw_rma_near_accumulate(window, target, *target_disp, call, rc))
        return HW_OK;
    *rc = hw_rma_redirect(window, win, target_rank, target_disp,
                          &(struct hw_rma_shape){.class = HW_RMA_ACCUMULATE,
                                                 .count = call->target.count,
                                                 .datatype = call->target.type});
    if (*rc != MPI_SUCCESS)
        return HW_OK;
    if (__builtin_expect(*target_rank != HW_RMA_SEVERAL, 1))
        return HW_DECLINED;
    *rc = hw_rma_pieces_make(window, target, *target_disp, call);
    return HW_OK;
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

int hw_accumulate(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                  int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
                  MPI_Op op, MPI_Win win)
{
    int rc, target = target_rank;
    MPI_Win on = win;
    struct hw_rma_window *window = hw_rma_find(win);
    struct hw_rma_accumulate call = {.origin = {origin_addr, origin_count, origin_datatype},
                                     .target = {NULL, target_count, target_datatype},
                                     .op = op};
    if (window && try_accumulate(window, &on, &target_rank, &target_disp, &call, &rc) == HW_OK)
        return rc;
    MPI_Request *request = NULL;
    if (window && hw_rma_flush_wait_is_on && have_same_elements(origin_datatype, target_datatype))
        request = hw_rma_flush_wait_place(window, target_rank);
    rc = request ? hw_real_raccumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                                       target_count, target_datatype, op, on, request)
                 : hw_real_accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                                      target_count, target_datatype, op, on);
    return made(window, on, target, origin_count, origin_datatype, false, rc);
}

int hw_get_accumulate(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                      void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    int rc, target = target_rank;
    MPI_Win on = win;
    struct hw_rma_window *window = hw_rma_find(win);
    struct hw_rma_accumulate call = {.origin = {origin_addr, origin_count, origin_datatype},
                                     .result = {result_addr, result_count, result_datatype},
                                     .target = {NULL, target_count, target_datatype},
                                     .op = op,
                                     .has_result = true};
    if (window && try_accumulate(window, &on, &target_rank, &target_disp, &call, &rc) == HW_OK)
        return rc;
    MPI_Request *request = hw_rma_flush_wait_place(window, target_rank);
    rc = request ? hw_real_rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr,
                                           result_count, result_datatype, target_rank, target_disp,
                                           target_count, target_datatype, op, on, request)
                 : hw_real_get_accumulate(origin_addr, origin_count, origin_datatype, result_addr,
                                          result_count, result_datatype, target_rank, target_disp,
                                          target_count, target_datatype, op, on);
    return made(window, on, target, result_count, result_datatype, true, rc);
}

int hw_fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
                    MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
    int rc;
    MPI_Win on = win;
    struct hw_rma_window *window = hw_rma_find(win);
    struct hw_rma_accumulate call = {.origin = {origin_addr, 1, datatype},
                                     .result = {result_addr, 1, datatype},
                                     .target = {NULL, 1, datatype},
                                     .op = op,
                                     .has_result = true};
    if (window && hw_rma_near_accumulate(window, target_rank, target_disp, &call, &rc))
        return rc;
    if (is_refused(HW_RMA_SINGLE, 1, datatype, window, &on, &target_rank, &target_disp, &rc))
        return rc;
    /* MPI_Fetch_and_op refuses more than its general form, which alone has a request. */
    MPI_Request *request = NULL;
    if (window && hw_rma_flush_wait_is_on && origin_addr && result_addr && hw_real_type_operations(datatype))
        request = hw_rma_flush_wait_place(window, target_rank);
    if (request)
        return hw_rma_pass(window, on,
                           hw_real.Rget_accumulate(origin_addr, 1, datatype, result_addr, 1, datatype,
                                                   target_rank, target_disp, 1, datatype, op, on, request));
    return hw_rma_pass(
        window, on,
        hw_real.Fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op, on));
}

int hw_compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
                        MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win)
{
    int rc;
    MPI_Win on = win;
    struct hw_rma_window *window = hw_rma_find(win);
    if (window && hw_rma_near_compare_and_swap(window, target_rank, target_disp, origin_addr, compare_addr,
                                               result_addr, datatype, &rc))
        return rc;
    if (is_refused(HW_RMA_SINGLE, 1, datatype, window, &on, &target_rank, &target_disp, &rc))
        return rc;
    return hw_rma_pass(window, on,
                       hw_real.Compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank,
                                                target_disp, on));
}

int hw_rput(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
            MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
            MPI_Request *request)
{
    int rc;
    MPI_Win on = win;
    struct hw_rma_window *window = hw_rma_find(win);
    hw_rma_owed_before(window, target_rank);
    if (is_settled(HW_RMA_PUT, (struct hw_rma_part){origin_addr, origin_count, origin_datatype},
                   (struct hw_rma_part){NULL, target_count, target_datatype}, window, &on, request,
                   &target_rank, &target_disp, &rc))
        return rc;
    return tracked(hw_rma_pass(window, on,
                               hw_real_rput(origin_addr, origin_count, origin_datatype, target_rank,
                                            target_disp, target_count, target_datatype, on, request)),
                   origin_count, origin_datatype, request);
}

int hw_rget(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
            MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
            MPI_Request *request)
{
    int rc;
    MPI_Win on = win;
    struct hw_rma_window *window = hw_rma_find(win);
    hw_rma_owed_before(window, target_rank);
    if (is_settled(HW_RMA_GET, (struct hw_rma_part){origin_addr, origin_count, origin_datatype},
                   (struct hw_rma_part){NULL, target_count, target_datatype}, window, &on, request,
                   &target_rank, &target_disp, &rc))
        return rc;
    return tracked(hw_rma_pass(window, on,
                               hw_real_rget(origin_addr, origin_count, origin_datatype, target_rank,
                                            target_disp, target_count, target_datatype, on, request)),
                   origin_count, origin_datatype, request);
}

int hw_raccumulate(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                   int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                   MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    int rc;
    MPI_Win on = win;
    struct hw_rma_window *window = hw_rma_find(win);
    struct hw_rma_accumulate call = {.origin = {origin_addr, origin_count, origin_datatype},
                                     .target = {NULL, target_count, target_datatype},
                                     .op = op,
                                     .request = request};
    if (window == NULL || try_accumulate(window, &on, &target_rank, &target_disp, &call, &rc) == HW_DECLINED)
        rc = hw_rma_pass(window, on,
                         hw_real_raccumulate(origin_addr, origin_count, origin_datatype, target_rank,
                                             target_disp, target_count, target_datatype, op, on, request));
    return tracked(rc, origin_count, origin_datatype, request);
}

int hw_rget_accumulate(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                       void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
                       int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                       MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    int rc;
    MPI_Win on = win;
    struct hw_rma_window *window = hw_rma_find(win);
    struct hw_rma_accumulate call = {.origin = {origin_addr, origin_count, origin_datatype},
                                     .result = {result_addr, result_count, result_datatype},
                                     .target = {NULL, target_count, target_datatype},
                                     .op = op,
                                     .has_result = true,
                                     .request = request};
    if (window == NULL || try_accumulate(window, &on, &target_rank, &target_disp, &call, &rc) == HW_DECLINED)
        rc = hw_rma_pass(window, on,
                         hw_real_rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr,
                                                 result_count, result_datatype, target_rank, target_disp,
                                                 target_count, target_datatype, op, on, request));
    return tracked(rc, result_count, result_datatype, request);
}
