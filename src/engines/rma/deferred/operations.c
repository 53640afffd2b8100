/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations, while their target is late. */
#include "engines/rma/deferred/calls.h"
#include "engines/rma/deferred/late.h"
#include "engines/rma/window/table.h"
#include "real/constants.h"

/* The window, if this target of it is late. Wrong ranks are plain's to refuse, like MPI_PROC_NULL and targets
 * that no epoch has. */
static inline struct hw_rma_window *find_late(MPI_Win win, int rank)
{
    struct hw_rma_window *window = hw_rma_find(win);
    bool is_late = window && (unsigned)rank < (unsigned)window->size && hw_rma_is_late(window, rank);
    return is_late ? window : NULL;
}

static int keep(struct hw_rma_window *window, const struct hw_rma_deferred_operation *operation)
{
    if (operation->disp < 0 && window->dynamic == NULL)
        return hw_rma_raise(window, MPI_ERR_DISP);
    return hw_rma_late_keep(window, operation) ? MPI_SUCCESS : HW_DECLINES;
}

/* The body of each function. No function of its own: nothing is filled in where the target is not late. */
#define DEFER(win, target_rank, ...)                                                                         \
    struct hw_rma_window *late = find_late(win, target_rank);                                                \
    return late ? keep(late, &(struct hw_rma_deferred_operation){.rank = (target_rank), __VA_ARGS__})        \
                : HW_DECLINES

static int put(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    DEFER(win, target_rank, .kind = HW_RMA_DEFERRED_PUT, .disp = target_disp,
          .origin = {origin_addr, origin_count, origin_datatype},
          .target = {NULL, target_count, target_datatype});
}

static int get(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    DEFER(win, target_rank, .kind = HW_RMA_DEFERRED_GET, .disp = target_disp,
          .origin = {origin_addr, origin_count, origin_datatype},
          .target = {NULL, target_count, target_datatype});
}

static int accumulate(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    DEFER(win, target_rank, .kind = HW_RMA_DEFERRED_ACCUMULATE, .disp = target_disp,
          .origin = {origin_addr, origin_count, origin_datatype},
          .target = {NULL, target_count, target_datatype}, .op = op);
}

static int get_accumulate(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                          void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
                          int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                          MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    DEFER(win, target_rank, .kind = HW_RMA_DEFERRED_GET_ACCUMULATE, .disp = target_disp,
          .origin = {origin_addr, origin_count, origin_datatype},
          .result = {result_addr, result_count, result_datatype},
          .target = {NULL, target_count, target_datatype}, .op = op);
}

static int fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
                        MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
    DEFER(win, target_rank, .kind = HW_RMA_DEFERRED_FETCH_AND_OP, .disp = target_disp,
          .origin = {origin_addr, 1, datatype}, .result = {result_addr, 1, datatype}, .op = op);
}

static int compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
                            MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win)
{
    DEFER(win, target_rank, .kind = HW_RMA_DEFERRED_COMPARE_AND_SWAP, .disp = target_disp,
          .origin = {origin_addr, 1, datatype}, .result = {result_addr, 1, datatype},
          .compare = compare_addr);
}

/* A request is one of the MPI's, which there is not before the operation is issued. */
static int request(int target_rank, MPI_Count count, MPI_Datatype datatype, MPI_Win win)
{
    (void)count, (void)datatype;
    struct hw_rma_window *window = find_late(win, target_rank);
    if (window)
        hw_rma_late_settle(window, target_rank);
    return HW_DECLINES;
}

const struct hw_engine_rma hw_rma_deferred_operations = {
    .put = put,
    .get = get,
    .accumulate = accumulate,
    .get_accumulate = get_accumulate,
    .fetch_and_op = fetch_and_op,
    .compare_and_swap = compare_and_swap,
    .request = request,
};
