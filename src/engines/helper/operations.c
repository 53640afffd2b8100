/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/helper/operations.h"

#include "engines/helper/rings.h"
#include "real/real.h"
#include "real/type_size.h"

/* After the call: what it has sent may be there when the target looks. */
static int issued(int rc, MPI_Count count, MPI_Datatype type, int target, MPI_Win win)
{
    if (rc == MPI_SUCCESS)
        hw_helper_rings_issued(win, target, hw_engines_bytes(count, type));
    return rc;
}

static int put(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    int rc = hw_real_put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                         target_datatype, win);
    return issued(rc, origin_count, origin_datatype, target_rank, win);
}

static int get(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    int rc = hw_real_get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                         target_datatype, win);
    return issued(rc, origin_count, origin_datatype, target_rank, win);
}

static int accumulate(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    int rc = hw_real_accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                                target_count, target_datatype, op, win);
    return issued(rc, origin_count, origin_datatype, target_rank, win);
}

static int get_accumulate(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                          void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
                          int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                          MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    int rc = hw_real_get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count,
                                    result_datatype, target_rank, target_disp, target_count, target_datatype,
                                    op, win);
    return issued(rc, result_count, result_datatype, target_rank, win);
}

static int fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
                        MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
    int rc = hw_real.Fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
    return issued(rc, 1, datatype, target_rank, win);
}

static int compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
                            MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win)
{
    int rc = hw_real.Compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank,
                                      target_disp, win);
    return issued(rc, 1, datatype, target_rank, win);
}

/* With a request the hook makes the call, and tells of it before: the MPI has not accepted the datatype yet.
 */
static int request(int target_rank, MPI_Count count, MPI_Datatype datatype, MPI_Win win)
{
    uint64_t size;
    bool is_known = count > 0 && hw_real_type_is_known(datatype, &size);
    hw_helper_rings_issued(win, target_rank, is_known ? (uint64_t)count * size : 0);
    return HW_DECLINES;
}

const struct hw_engine_rma hw_helper_rma_calls = {
    .put = put,
    .get = get,
    .accumulate = accumulate,
    .get_accumulate = get_accumulate,
    .fetch_and_op = fetch_and_op,
    .compare_and_swap = compare_and_swap,
    .request = request,
};

/* A call that waits, between the two times. */
static int waited(MPI_Win win, uint64_t began_ns, int rc)
{
    hw_helper_rings_waited(win, began_ns);
    return rc;
}

static int win_fence(int assertion, MPI_Win win)
{
    hw_helper_rings_wait(win, HW_HELPER_RINGS_ALL); /* who waits for the others anyway learns nothing */
    return hw_real.Win_fence(assertion, win);
}

static int win_complete(MPI_Win win)
{
    uint64_t began_ns = hw_helper_rings_wait(win, HW_HELPER_RINGS_ALL);
    return waited(win, began_ns, hw_real.Win_complete(win));
}

static int win_lock(int lock_type, int rank, int assertion, MPI_Win win)
{
    uint64_t began_ns = assertion & MPI_MODE_NOCHECK ? 0 : hw_helper_rings_meet(win, rank);
    return waited(win, began_ns, hw_real.Win_lock(lock_type, rank, assertion, win));
}

static int win_unlock(int rank, MPI_Win win)
{
    uint64_t began_ns = hw_helper_rings_wait(win, rank);
    return waited(win, began_ns, hw_real.Win_unlock(rank, win));
}

static int win_unlock_all(MPI_Win win)
{
    uint64_t began_ns = hw_helper_rings_wait(win, HW_HELPER_RINGS_ALL);
    return waited(win, began_ns, hw_real.Win_unlock_all(win));
}

static int win_flush(int rank, MPI_Win win)
{
    uint64_t began_ns = hw_helper_rings_wait(win, rank);
    return waited(win, began_ns, hw_real.Win_flush(rank, win));
}

static int win_flush_all(MPI_Win win)
{
    uint64_t began_ns = hw_helper_rings_wait(win, HW_HELPER_RINGS_ALL);
    return waited(win, began_ns, hw_real.Win_flush_all(win));
}

const struct hw_engine_epoch hw_helper_epoch_calls = {
    .win_fence = win_fence,
    .win_complete = win_complete,
    .win_lock = win_lock,
    .win_unlock = win_unlock,
    .win_unlock_all = win_unlock_all,
    .win_flush = win_flush,
    .win_flush_all = win_flush_all,
};

static int win_free(MPI_Win *win)
{
    if (win)
        hw_helper_rings_forget(*win);
    return HW_DECLINES;
}

const struct hw_engine_window hw_helper_window_calls = {.win_free = win_free};
