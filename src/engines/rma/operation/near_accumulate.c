/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/operation/near_accumulate.h"

#include "base/atomic.h"
#include "engines/rma/epoch/lock.h"
#include "engines/rma/operation/layout.h"
#include "engines/rma/operation/near.h"
#include "engines/rma/operation/redirect.h"
#include "engines/rma/window/nearby.h"
#include "ghost/apply_lock.h"
#include "ghost/channel.h"
#include "profile/record/counters.h"
#include "real/basic_type.h"
#include "real/type_size.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

/* The lock is given back after this much, so that the ghost need not wait for more: an accumulate is atomic
 * for each element alone (MPI-4.1 section 12.7.1). */
enum { TURN_BYTES = 64 * 1024, KEPT_BYTES = 1024 * 1024 };

/* An operation as it is applied. Turns are whole numbers of `unit`s. */
struct job {
    struct hw_rma_target *target;
    char *memory;
    MPI_Datatype element;
    MPI_Op op;
    unsigned operation; /* enum hw_real_operations */
    bool is_dense;      /* target: elements side by side */
    MPI_Datatype unit;
    int unit_count;
    MPI_Aint unit_extent, unit_bytes, element_bytes;
    const char *origin; /* elements side by side, as the next two; NULL with MPI_NO_OP */
    char *result;       /* NULL: not fetched */
    char *staged;       /* room for one turn of a target that is not dense */
};

/* Memory for elements that lie apart: one piece is kept from call to call. */
static _Atomic(char *) kept;

static char *reserve(size_t bytes)
{
    char *room = bytes <= KEPT_BYTES ? hw_atomic_exchange_seq_cst(&kept, NULL) : NULL;
    return room ? room : malloc(bytes <= KEPT_BYTES ? KEPT_BYTES : bytes);
}

static void release(char *room, size_t bytes)
{
    free(bytes <= KEPT_BYTES ? hw_atomic_exchange_seq_cst(&kept, room) : room);
}

void hw_rma_near_accumulate_close(void) { free(hw_atomic_exchange_seq_cst(&kept, NULL)); }

static uint32_t own_place(void) { return (uint32_t)hw_world.processes[hw_world.rank].local_index + 1; }

/* Whether operations on this target are for the origin to apply. An earlier one that went to the ghost may
 * not have been applied until the target is flushed. Under the ghost's lock no process but the ghost applies
 * what comes from others: not the owner, while accumulates go there. */
static bool is_ours(const struct hw_rma_window *window, int rank)
{
    if (!hw_rma_is_near(window, rank) || window->targets[rank].lock == NULL ||
        hw_atomic_load_relaxed(&window->routes.accumulate) != HW_RMA_ROUTE_GHOST)
        return false;
    const struct hw_rma_target *target = &window->targets[rank];
    return !hw_atomic_load_relaxed(&target->has_accumulates) || !hw_rma_is_dirty(window, target);
}

/* The epoch; an MPI error, already raised. */
static int open_epoch(struct hw_rma_window *window, int rank)
{
    if (hw_atomic_load_relaxed(&window->is_open) ||
        hw_atomic_load_relaxed(&window->targets[rank].access) != HW_RMA_ACCESS_NONE)
        return MPI_SUCCESS;
    return hw_rma_open_target(window, rank);
}

/* A side of the operation, `bytes` in all. It is used where it lies if it is of elements side by side. */
static bool is_side(const struct job *job, const void *address, MPI_Count count, MPI_Datatype datatype,
                    MPI_Aint bytes, bool *is_dense)
{
    *is_dense = datatype == job->element;
    if (count <= 0 || count > INT_MAX || datatype == HW_DATATYPE_NULL)
        return false;
    if (*is_dense)
        return address != NULL && count * job->element_bytes == bytes;
    return hw_rma_layout_element(datatype) == job->element &&
           count * (MPI_Count)hw_real_type_size(datatype) == bytes;
}

static bool describe_target(struct job *job, MPI_Count count, MPI_Datatype datatype)
{
    if (count <= 0 || count > INT_MAX || datatype == HW_DATATYPE_NULL)
        return false;
    unsigned operations = hw_real_type_operations(datatype);
    job->is_dense = operations != 0;
    job->unit = job->element = datatype;
    job->unit_count = (int)count;
    job->unit_extent = job->unit_bytes = (MPI_Aint)hw_real_type_size(datatype);
    if (!job->is_dense) {
        MPI_Count lb, extent;
        job->element = hw_rma_layout_element(datatype);
        operations = job->element == HW_DATATYPE_NULL ? 0 : hw_real_type_operations(job->element);
        if (operations == 0 || job->unit_bytes == 0 ||
            hw_bottom.Type_get_extent_x(datatype, &lb, &extent) != MPI_SUCCESS)
            return false;
        job->unit_extent = (MPI_Aint)extent;
    }
    job->element_bytes = (MPI_Aint)hw_real_type_size(job->element);
    return (operations & job->operation) && job->element_bytes > 0 && job->unit_bytes <= INT_MAX &&
           job->unit_bytes % job->element_bytes == 0;
}

static bool overlaps(const char *one, const char *other, MPI_Aint bytes)
{
    return one && other && one < other + bytes && other < one + bytes;
}

/* True on success. */
static bool pack(const void *from, MPI_Count count, MPI_Datatype datatype, char *to, MPI_Aint bytes)
{
    int position = 0;
    return hw_bottom.Pack(from, (int)count, datatype, to, (int)bytes, &position, hw_rma_nearby_comm()) ==
               MPI_SUCCESS &&
           position == bytes;
}

static bool unpack(const char *from, MPI_Aint bytes, void *to, MPI_Count count, MPI_Datatype datatype)
{
    int position = 0;
    return hw_bottom.Unpack(from, (int)bytes, &position, to, (int)count, datatype, hw_rma_nearby_comm()) ==
           MPI_SUCCESS;
}

/* `bytes` of elements side by side, at `target` too. */
static void apply(const struct job *job, const char *origin, char *result, char *target, MPI_Aint bytes)
{
    if (result)
        memcpy(result, target, (size_t)bytes);
    if (job->operation == HW_REAL_REPLACE)
        memcpy(target, origin, (size_t)bytes);
    else if (job->operation != HW_REAL_READ)
        hw_bottom.Reduce_local(origin, target, (int)(bytes / job->element_bytes), job->element, job->op);
}

/* `count` units from `first` on, under the lock. */
static bool take_turn(const struct job *job, int first, int count)
{
    char *memory = job->memory + (MPI_Aint)first * job->unit_extent;
    MPI_Aint done = (MPI_Aint)first * job->unit_bytes, bytes = (MPI_Aint)count * job->unit_bytes;
    const char *origin = job->origin ? job->origin + done : NULL;
    char *result = job->result ? job->result + done : NULL;
    bool is_right = true;
    bool has_waited = hw_ghost_apply_lock_take(job->target->lock, own_place(), hw_ghost_channel_progress);
    if (job->is_dense) {
        apply(job, origin, result, memory, bytes);
    } else if (job->operation == HW_REAL_REPLACE && result == NULL) {
        is_right = unpack(origin, bytes, memory, count, job->unit);
    } else {
        is_right = pack(memory, count, job->unit, job->staged, bytes);
        if (is_right)
            apply(job, origin, result, job->staged, bytes);
        if (is_right && job->operation != HW_REAL_READ)
            is_right = unpack(job->staged, bytes, memory, count, job->unit);
    }
    hw_ghost_apply_lock_give(job->target->lock, has_waited);
    return is_right;
}

static int units_of_turn(const struct job *job)
{
    MPI_Aint units = TURN_BYTES / job->unit_bytes;
    return units < 1 ? 1 : units < job->unit_count ? (int)units : job->unit_count;
}

static bool take_turns(const struct job *job)
{
    int step = units_of_turn(job);
    bool is_right = true;
    for (int left = job->unit_count; left > 0 && is_right; left -= step < left ? step : left)
        is_right = take_turn(job, job->unit_count - left, step < left ? step : left);
    return is_right;
}

/* With what lies apart brought together. False: nothing was done yet. */
static bool run_staged(struct job *job, const struct hw_rma_accumulate *call, bool is_origin_dense,
                       bool is_result_dense, int *rc)
{
    MPI_Aint bytes = (MPI_Aint)job->unit_count * job->unit_bytes;
    MPI_Aint turn_bytes = job->is_dense ? 0 : (MPI_Aint)units_of_turn(job) * job->unit_bytes;
    size_t room_bytes = (size_t)(turn_bytes + (is_origin_dense ? 0 : bytes) + (is_result_dense ? 0 : bytes));
    char *room = bytes > INT_MAX ? NULL : reserve(room_bytes), *next = room;
    bool is_done = room != NULL;
    if (!is_done)
        return false;
    job->staged = next;
    next += turn_bytes;
    if (!is_origin_dense) {
        is_done = pack(call->origin.address, call->origin.count, call->origin.type, next, bytes);
        job->origin = next;
        next += bytes;
    }
    if (!is_result_dense)
        job->result = next;
    if (is_done) {
        bool is_right = take_turns(job);
        if (is_right && !is_result_dense)
            is_right =
                unpack(next, bytes, (void *)call->result.address, call->result.count, call->result.type);
        *rc = is_right ? MPI_SUCCESS : MPI_ERR_TYPE;
    }
    release(room, room_bytes);
    return is_done;
}

bool hw_rma_near_accumulate(struct hw_rma_window *window, int rank, MPI_Aint disp,
                            const struct hw_rma_accumulate *call, int *rc)
{
    bool is_origin_dense = true, is_result_dense = true;
    if (!is_ours(window, rank) || disp < 0)
        return false;
    struct hw_rma_target *target = &window->targets[rank];
    struct job job = {.target = target,
                      .memory = target->memory + disp * target->disp_unit,
                      .op = call->op,
                      .operation = hw_real_op_operation(call->op),
                      .origin = call->origin.address,
                      .result = call->has_result ? (void *)call->result.address : NULL};
    if (job.operation == HW_REAL_READ)
        job.origin = NULL;
    if ((job.operation == HW_REAL_READ && !call->has_result) ||
        !describe_target(&job, call->target.count, call->target.type))
        return false;
    MPI_Aint bytes = (MPI_Aint)job.unit_count * job.unit_bytes;
    if ((job.operation != HW_REAL_READ && !is_side(&job, call->origin.address, call->origin.count,
                                                   call->origin.type, bytes, &is_origin_dense)) ||
        (call->has_result && !is_side(&job, call->result.address, call->result.count, call->result.type,
                                      bytes, &is_result_dense)))
        return false;
    /* What the program should not do, but the MPI underneath may stand. */
    if (job.is_dense && (overlaps(job.origin, job.memory, bytes) || overlaps(job.result, job.memory, bytes)))
        return false;
    *rc = open_epoch(window, rank);
    if (*rc != MPI_SUCCESS)
        return true;
    if (job.is_dense && is_origin_dense && is_result_dense)
        take_turns(&job);
    else if (!run_staged(&job, call, is_origin_dense, is_result_dense, rc))
        return false;
    HW_COUNT(operations_applied);
    hw_ghost_channel_progress_sometimes();
    if (*rc != MPI_SUCCESS)
        hw_rma_raise(window, *rc);
    else
        *rc = hw_rma_near_complete(window, call->request);
    return true;
}

bool hw_rma_near_compare_and_swap(struct hw_rma_window *window, int rank, MPI_Aint disp, const void *origin,
                                  const void *compare, void *result, MPI_Datatype datatype, int *rc)
{
    if (!is_ours(window, rank) || disp < 0 || origin == NULL || compare == NULL || result == NULL ||
        !(hw_real_type_operations(datatype) & HW_REAL_COMPARE))
        return false;
    struct hw_rma_target *target = &window->targets[rank];
    size_t bytes = (size_t)hw_real_type_size(datatype);
    char *memory = target->memory + disp * target->disp_unit;
    *rc = open_epoch(window, rank);
    if (*rc != MPI_SUCCESS)
        return true;
    bool has_waited = hw_ghost_apply_lock_take(target->lock, own_place(), hw_ghost_channel_progress);
    bool is_same = memcmp(memory, compare, bytes) == 0;
    memcpy(result, memory, bytes);
    if (is_same)
        memcpy(memory, origin, bytes);
    hw_ghost_apply_lock_give(target->lock, has_waited);
    HW_COUNT(operations_applied);
    hw_ghost_channel_progress_sometimes();
    return true;
}
