#include "mpi/profiled.h"

#include "real/type_size.h"

static uint64_t number(MPI_Request request) { return (uint64_t)(uintptr_t)request; }

uint64_t hw_profiled_bytes(MPI_Count count, MPI_Datatype datatype)
{
    return count > 0 ? (uint64_t)count * hw_real_type_size(datatype) : 0;
}

void hw_profiled_posted(struct hw_profile_call *call, int rc, const MPI_Request *request, bool is_persistent)
{
    if (rc == MPI_SUCCESS && *request != HW_REQUEST_NULL)
        hw_profile_posted(call, number(*request), is_persistent);
    else
        hw_profile_count(call);
}

void hw_profiled_started(struct hw_profile_call *call, int rc, int count, const MPI_Request *requests)
{
    for (int i = 0; rc == MPI_SUCCESS && i < count; i++)
        if (requests[i] != HW_REQUEST_NULL)
            hw_profile_start(call, number(requests[i]));
    hw_profile_count(call);
}

void hw_profiled_hold(struct hw_profile_call *call, int count, const MPI_Request *requests, bool is_blocking)
{
    if (!hw_profile_is_any_pending())
        return;
    for (int i = 0; i < count; i++)
        if (requests[i] != HW_REQUEST_NULL)
            hw_profile_hold(call, i, number(requests[i]));
    if (is_blocking)
        hw_profile_wait(call);
}

void hw_profiled_release(struct hw_profile_call *call, const MPI_Request *requests, bool is_all_complete,
                         bool is_blocking)
{
    for (int i = 0; i < call->held_count; i++) {
        struct hw_profile_held *held = &call->held[i];
        held->is_complete = is_all_complete || number(requests[held->index]) != hw_profile_handle(held);
    }
    hw_profile_release(call, is_blocking);
}

void hw_profiled_forget(const MPI_Request *request)
{
    if (*request != HW_REQUEST_NULL)
        hw_profile_forget(number(*request));
}
