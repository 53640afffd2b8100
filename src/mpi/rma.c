/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations (MPI-4.1 section 12.3): the real call, unless an engine takes the operation. Entries
 * call the hooks of those without a request only while an engine is asked. */
#include "engines/engine.h"
#include "hooks.h"

int hw_put(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
           MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    int rc = hw_ask_put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                        target_datatype, win);
    if (rc != HW_DECLINES)
        return rc;
    return hw_real_put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                       target_datatype, win);
}

int hw_get(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
           MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    int rc = hw_ask_get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                        target_datatype, win);
    if (rc != HW_DECLINES)
        return rc;
    return hw_real_get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                       target_datatype, win);
}

int hw_accumulate(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                  int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
                  MPI_Op op, MPI_Win win)
{
    int rc = hw_ask_accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                               target_count, target_datatype, op, win);
    if (rc != HW_DECLINES)
        return rc;
    return hw_real_accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                              target_count, target_datatype, op, win);
}

int hw_get_accumulate(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                      void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    int rc = hw_ask_get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count,
                                   result_datatype, target_rank, target_disp, target_count, target_datatype,
                                   op, win);
    if (rc != HW_DECLINES)
        return rc;
    return hw_real_get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count,
                                  result_datatype, target_rank, target_disp, target_count, target_datatype,
                                  op, win);
}

int hw_fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
                    MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
    int rc = hw_ask_fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
    if (rc != HW_DECLINES)
        return rc;
    return hw_real.Fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
}

int hw_compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
                        MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win)
{
    int rc = hw_ask_compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank,
                                     target_disp, win);
    if (rc != HW_DECLINES)
        return rc;
    return hw_real.Compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank,
                                    target_disp, win);
}

/* A request of the MPI's own, if the call went well: tells of it. */
static int posted(int rc, MPI_Count count, MPI_Datatype datatype, const MPI_Request *request)
{
    if (hw_real_is_made(rc, request))
        hw_engines_post_rma(count, datatype, *request);
    return rc;
}

int hw_rput(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
            MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
            MPI_Request *request)
{
    int rc = hw_ask_rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                         target_datatype, win, request);
    if (rc != HW_DECLINES)
        return rc;
    return posted(hw_real_rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                               target_count, target_datatype, win, request),
                  origin_count, origin_datatype, request);
}

int hw_rget(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
            MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
            MPI_Request *request)
{
    int rc = hw_ask_rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                         target_datatype, win, request);
    if (rc != HW_DECLINES)
        return rc;
    return posted(hw_real_rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                               target_count, target_datatype, win, request),
                  origin_count, origin_datatype, request);
}

int hw_raccumulate(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                   int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                   MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    int rc = hw_ask_raccumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                                target_count, target_datatype, op, win, request);
    if (rc != HW_DECLINES)
        return rc;
    return posted(hw_real_raccumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                                      target_count, target_datatype, op, win, request),
                  origin_count, origin_datatype, request);
}

int hw_rget_accumulate(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                       void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
                       int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                       MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    int rc = hw_ask_rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count,
                                    result_datatype, target_rank, target_disp, target_count, target_datatype,
                                    op, win, request);
    if (rc != HW_DECLINES)
        return rc;
    return posted(hw_real_rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr,
                                          result_count, result_datatype, target_rank, target_disp,
                                          target_count, target_datatype, op, win, request),
                  result_count, result_datatype, request);
}
