/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/deferred/operation.h"

#include "engines/rma/operation/calls.h"
#include "objects/datatype/hold.h"
#include "real/constants.h"
#include "real/type_size.h"

#include <stdlib.h>

/* Predefined datatypes live as long as the program. */
static bool hold(struct hw_rma_part *part, bool *is_held)
{
    uint64_t size;
    *is_held = false;
    if (part->type == HW_DATATYPE_NULL || part->count < 0)
        return false;
    if (hw_real_type_is_basic(part->type, &size))
        return true;
    part->type = hw_datatype_hold(part->type);
    *is_held = part->type != HW_DATATYPE_NULL;
    return *is_held;
}

static bool has_origin(const struct hw_rma_deferred_operation *operation)
{
    return operation->kind != HW_RMA_DEFERRED_GET_ACCUMULATE || operation->origin.type != HW_DATATYPE_NULL;
}

static bool has_result(const struct hw_rma_deferred_operation *operation)
{
    return operation->kind == HW_RMA_DEFERRED_GET_ACCUMULATE;
}

/* One element of one datatype, for which the origin's stands. */
static bool is_single(const struct hw_rma_deferred_operation *operation)
{
    return operation->kind == HW_RMA_DEFERRED_FETCH_AND_OP ||
           operation->kind == HW_RMA_DEFERRED_COMPARE_AND_SWAP;
}

struct hw_rma_deferred_operation *hw_rma_deferred_copy(const struct hw_rma_deferred_operation *given)
{
    struct hw_rma_deferred_operation *copy = malloc(sizeof *copy);
    if (copy == NULL)
        return NULL;
    *copy = *given;
    copy->next = NULL;
    copy->holds_origin = copy->holds_result = copy->holds_target = false;
    if (is_single(copy)) /* predefined: else it is an error, for the call to raise */
        return copy;
    if ((!has_origin(copy) || hold(&copy->origin, &copy->holds_origin)) &&
        (!has_result(copy) || hold(&copy->result, &copy->holds_result)) &&
        hold(&copy->target, &copy->holds_target))
        return copy;
    hw_rma_deferred_drop(copy);
    return NULL;
}

void hw_rma_deferred_drop(struct hw_rma_deferred_operation *operation)
{
    if (operation->holds_origin)
        hw_bottom.Type_free(&operation->origin.type);
    if (operation->holds_result)
        hw_bottom.Type_free(&operation->result.type);
    if (operation->holds_target)
        hw_bottom.Type_free(&operation->target.type);
    free(operation);
}

/* As the program would call it now. */
static int issue(const struct hw_rma_deferred_operation *operation, MPI_Win win)
{
    const struct hw_engine_rma *calls = &hw_rma_operation_calls;
    const struct hw_rma_part *origin = &operation->origin, *result = &operation->result;
    const struct hw_rma_part *target = &operation->target;
    int rank = operation->rank;
    MPI_Aint disp = operation->disp;
    switch (operation->kind) {
    case HW_RMA_DEFERRED_PUT:
        return calls->put(origin->address, origin->count, origin->type, rank, disp, target->count,
                          target->type, win);
    case HW_RMA_DEFERRED_GET:
        return calls->get((void *)(uintptr_t)origin->address, origin->count, origin->type, rank, disp,
                          target->count, target->type, win);
    case HW_RMA_DEFERRED_ACCUMULATE:
        return calls->accumulate(origin->address, origin->count, origin->type, rank, disp, target->count,
                                 target->type, operation->op, win);
    case HW_RMA_DEFERRED_GET_ACCUMULATE:
        return calls->get_accumulate(origin->address, origin->count, origin->type,
                                     (void *)(uintptr_t)result->address, result->count, result->type, rank,
                                     disp, target->count, target->type, operation->op, win);
    case HW_RMA_DEFERRED_FETCH_AND_OP:
        return calls->fetch_and_op(origin->address, (void *)(uintptr_t)result->address, origin->type, rank,
                                   disp, operation->op, win);
    case HW_RMA_DEFERRED_COMPARE_AND_SWAP:
        return calls->compare_and_swap(origin->address, operation->compare,
                                       (void *)(uintptr_t)result->address, origin->type, rank, disp, win);
    }
    return MPI_ERR_INTERN;
}

int hw_rma_deferred_issue(struct hw_rma_window *window, struct hw_rma_deferred_operation *operation)
{
    int rc = issue(operation, window->handle);
    hw_rma_deferred_drop(operation);
    return rc;
}
