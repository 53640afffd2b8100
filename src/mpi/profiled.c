/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/profiled.h"

#include "base/clock.h"
#include "profile/callers/comms.h"
#include "profile/waits/moments.h"
#include "real/constants.h"
#include "real/detect.h"
#include "real/type_size.h"
#include "world/comm.h"

#include <stdlib.h>
#include <string.h>

static uint64_t number(MPI_Request request) { return (uint64_t)(uintptr_t)request; }

uint64_t hw_profiled_bytes(MPI_Count count, MPI_Datatype datatype, unsigned frees)
{
    uint64_t size;
    if (count <= 0)
        return 0;
    if (hw_real_type_is_known(datatype, &size))
        return (uint64_t)count * size;
    if (!hw_real_type_hold(frees))
        return 0;
    size = hw_real_type_size_keep(datatype);
    hw_real_type_let_go();
    return (uint64_t)count * size;
}

static uint64_t comm_number(MPI_Comm comm) { return (uint64_t)(uintptr_t)comm; }

/* The group's ranks in the world; NULL if there is no world, or no memory. All calls are local. */
static int *world_ranks(MPI_Comm comm, int *size)
{
    int has_world = 0;
    MPI_Group group, world;
    if (hw_real.Comm_size(comm, size) != MPI_SUCCESS)
        *size = 0;
    int *ranks = *size > 0 ? malloc(2 * (size_t)*size * sizeof *ranks) : NULL;
    if (!ranks || hw_real.Initialized(&has_world) != MPI_SUCCESS || !has_world ||
        hw_real.Comm_group(comm, &group) != MPI_SUCCESS)
        goto err_world;
    if (hw_real.Comm_group(hw_world_comm(HW_COMM_WORLD), &world) != MPI_SUCCESS)
        goto err_group;
    for (int i = 0; i < *size; i++)
        ranks[*size + i] = i;
    int rc = hw_real.Group_translate_ranks(group, *size, ranks + *size, world, ranks);
    hw_real.Group_free(&world);
    hw_real.Group_free(&group);
    if (rc == MPI_SUCCESS)
        return ranks;
    free(ranks);
    return NULL;

err_group:
    hw_real.Group_free(&group);
err_world:
    free(ranks);
    return NULL;
}

static __attribute__((noinline)) struct hw_profile_comm *add_comm(MPI_Comm comm)
{
    /* Entries have put the program's world in its place already. */
    bool is_world = hw_world_comm(comm) == hw_world_comm(HW_COMM_WORLD);
    const char *name = is_world ? "MPI_COMM_WORLD" : comm == HW_COMM_SELF ? "MPI_COMM_SELF" : "";
    int size = 0;
    int *ranks = world_ranks(hw_world_comm(comm), &size);
    struct hw_profile_comm *added = hw_comms_add(comm_number(comm), name, size, ranks);
    free(ranks);
    int is_inter = 1, rank = -1;
    if (hw_real.Comm_test_inter(hw_world_comm(comm), &is_inter) != MPI_SUCCESS ||
        hw_real.Comm_rank(hw_world_comm(comm), &rank) != MPI_SUCCESS)
        is_inter = 1;
    hw_comms_set_own(comm_number(comm), rank, is_inter != 0);
    return added;
}

/* NULL if the call failed: then the handle may be anything. */
static inline struct hw_profile_comm *comm_of(int rc, MPI_Comm comm)
{
    if (rc != MPI_SUCCESS || comm == HW_COMM_NULL)
        return NULL;
    struct hw_profile_comm *found = hw_comms_find(&hw_profile_mine->comms, comm_number(comm));
    return found ? found : add_comm(comm);
}

void hw_profiled_comm(struct hw_profile_call *call, int rc, MPI_Comm comm)
{
    hw_profile_set_comm(call, comm_of(rc, comm));
}

const void *hw_profiled_note(uint64_t began_ns, const char *function, const void *site, uint64_t bytes,
                             int rc, MPI_Comm comm)
{
    uint64_t ended_ns = hw_clock_fast_ns();
    const void *caller = hw_callers_find(site);
    hw_thread_note(hw_profile_mine, began_ns, ended_ns, function, caller, bytes, comm_of(rc, comm),
                   HW_DELAY_NO_WHO);
    return caller;
}

const void *hw_profiled_note_with(uint64_t began_ns, const char *function, const void *site, uint64_t bytes,
                                  int rc, MPI_Comm comm, int gives, int takes, int tag)
{
    uint64_t ended_ns = hw_clock_fast_ns();
    struct hw_profile_comm *found = comm_of(rc, comm);
    if (takes == HW_DELAY_ALL && hw_delays_is_for_all(function) && hw_comms_is_it_world(found))
        hw_moments_meet(began_ns, ended_ns);
    const void *caller = hw_callers_find(site);
    hw_thread_note(hw_profile_mine, began_ns, ended_ns, function, caller, bytes, found,
                   found ? (struct hw_delay_who){comm_number(comm), gives, takes, tag} : HW_DELAY_NO_WHO);
    return caller;
}

void hw_profiled_note_probe(uint64_t began_ns, const char *function, const void *site, int rc, MPI_Comm comm,
                            bool is_found, int took, int tag)
{
    uint64_t ended_ns = hw_clock_fast_ns();
    struct hw_delay_who who = {0, HW_DELAY_NOBODY, HW_DELAY_NOBODY, -1};
    struct hw_profile_note note = {.site = hw_callers_find(site),
                                   .function = function,
                                   .comm = comm_of(rc, comm),
                                   .began_ns = began_ns,
                                   .took_ns = hw_thread_between_ns(began_ns, ended_ns)};
    if (note.comm && is_found)
        who = (struct hw_delay_who){comm_number(comm), HW_DELAY_NOBODY, took, tag};
    hw_profile_probed(&note, is_found, who);
}

void hw_profiled_note_window(const struct hw_one_sided_call *call, int rc)
{
    struct hw_one_sided_call ended = *call;
    ended.ended_ns = hw_clock_fast_ns();
    ended.site = hw_callers_find(call->site);
    hw_thread_note(hw_profile_mine, ended.began_ns, ended.ended_ns, ended.function, ended.site, ended.bytes,
                   NULL, HW_DELAY_NO_WHO);
    if (rc == MPI_SUCCESS)
        hw_one_sided_note(hw_profile_mine, &ended);
}

const void *hw_profiled_base(int rc, const void *baseptr)
{
    const void *base = NULL;
    if (rc == MPI_SUCCESS)
        memcpy(&base, baseptr, sizeof base);
    return base;
}

void hw_profiled_window_made(int rc, MPI_Win win, MPI_Comm comm, enum hw_one_sided_memory memory,
                             const void *base, MPI_Count size)
{
    const struct hw_one_sided_window window = {.handle = (uint64_t)(uintptr_t)win,
                                               .comm = comm_number(comm),
                                               .memory = memory,
                                               .base = base,
                                               .size_bytes = (uint64_t)size};
    const struct hw_one_sided_mpi mpi = {.is_node_direct = hw_real_is_node_rma_direct(),
                                         .is_node_accumulate_slow = !hw_real_is_accumulate_one_request(),
                                         .is_sound = hw_real_is_window_sound()};
    if (rc == MPI_SUCCESS)
        hw_one_sided_made(&window, &mpi);
}

void hw_profiled_window_forget(const MPI_Win *win)
{
    if (win && *win != HW_WIN_NULL)
        hw_one_sided_freed((uint64_t)(uintptr_t)*win);
}

void hw_profiled_memory(int rc, const void *base, MPI_Count size)
{
    if (rc == MPI_SUCCESS)
        hw_one_sided_allocated(base, (uint64_t)size);
}

void hw_profiled_comm_named(int rc, MPI_Comm comm, const char *name)
{
    if (rc == MPI_SUCCESS)
        hw_comms_rename(comm_number(comm), name);
}

void hw_profiled_comm_forget(const MPI_Comm *comm)
{
    if (comm && *comm != HW_COMM_NULL)
        hw_comms_forget(comm_number(*comm));
}

void hw_profiled_posted(struct hw_profile_call *call, int rc, const MPI_Request *request, bool is_persistent)
{
    if (hw_real_is_made(rc, request))
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
    if (!hw_profile_is_any_pending() || requests == NULL)
        return;
    for (int i = 0; i < count; i++)
        if (requests[i] != HW_REQUEST_NULL)
            hw_profile_hold(call, i, number(requests[i]));
    hw_profile_wait(call, is_blocking);
}

void hw_profiled_told(struct hw_profile_call *call, int count, const int *indices)
{
    if (call->held_count == 0)
        return;
    for (int i = 0; i < count; i++) { /* MPI_UNDEFINED is negative, as a count too */
        struct hw_profile_held *held = hw_profile_held_at(call, indices[i]);
        if (held)
            held->is_complete = true;
    }
}

MPI_Status *hw_profiled_statuses(const struct hw_profile_call *call, int count, MPI_Status *statuses,
                                 MPI_Status *own)
{
    /* NOLINTNEXTLINE(misc-redundant-expression): they may differ */
    bool is_told = statuses != HW_STATUS_IGNORE && statuses != HW_STATUSES_IGNORE;
    if (is_told || !call->wants_sources || count > HW_PROFILED_STATUS_COUNT)
        return statuses;
    memset(own, 0, HW_PROFILED_STATUS_COUNT * sizeof *own);
    return own;
}

void hw_profiled_sources(struct hw_profile_call *call, int count, const int *indices,
                         const MPI_Status *statuses)
{
    /* NOLINTNEXTLINE(misc-redundant-expression): they may differ */
    if (!call->wants_sources || statuses == HW_STATUS_IGNORE || statuses == HW_STATUSES_IGNORE)
        return;
    for (int i = 0; i < count; i++) { /* MPI_UNDEFINED is negative, as a count too */
        struct hw_profile_held *held = hw_profile_held_at(call, indices ? indices[i] : i);
        if (held)
            held->took = statuses[i].MPI_SOURCE;
    }
}

void hw_profiled_release(struct hw_profile_call *call, const MPI_Request *requests, bool is_all_complete,
                         bool is_blocking)
{
    for (int i = 0; i < call->held_count; i++) {
        struct hw_profile_held *held = &call->held[i];
        held->is_complete |= is_all_complete || number(requests[held->index]) != held->handle;
    }
    hw_profile_release(call, is_blocking);
}

void hw_profiled_forget(const MPI_Request *request)
{
    if (request && *request != HW_REQUEST_NULL)
        hw_profile_forget(number(*request));
}

void hw_profiled_drop(int count, const MPI_Request *requests)
{
    for (int i = 0; requests && i < count && hw_profile_is_any_pending(); i++)
        hw_profiled_forget(&requests[i]);
}
