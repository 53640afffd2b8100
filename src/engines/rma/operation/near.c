/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/operation/near.h"

#include "base/atomic.h"
#include "engines/rma/epoch/lock.h"
#include "engines/rma/window/nearby.h"
#include "ghost/channel.h"
#include "profile/record/counters.h"
#include "real/constants.h"
#include "real/type_size.h"
#include "team/split.h"

#include <limits.h>
#include <string.h>

enum { TAG_COUNT = 1 << 14, SHARED_MIN = 512 * 1024, SIZES = 64 };

struct bytes {
    char *to;
    const char *from;
};

static void copy_range(void *context, int64_t from, int64_t to)
{
    const struct bytes *bytes = context;
    memcpy(bytes->to + from, bytes->from + from, (size_t)(to - from));
}

/* Large and without gaps: idle threads of the program may take a part (papers/004 section II.B.2). False: it
 * is another. */
static bool copy_shared(struct hw_rma_part from, struct hw_rma_part to)
{
    static struct hw_team_split splits[SIZES]; /* for each power of two */
    uint64_t from_size, to_size;
    if (!hw_real_type_is_basic(from.type, &from_size) || !hw_real_type_is_basic(to.type, &to_size))
        return false;
    uint64_t bytes = (uint64_t)from.count * from_size;
    uintptr_t begin = (uintptr_t)from.address, end = (uintptr_t)to.address;
    if (from.count <= 0 || bytes < SHARED_MIN ||
        hw_rma_is_muted || /* perhaps not a thread of the program's */
        bytes != (uint64_t)to.count * to_size || begin == 0 || end == 0 ||
        (begin > end ? begin - end : end - begin) < bytes)
        return false;
    struct bytes context = {.to = (char *)to.address, .from = (const char *)from.address};
    hw_team_split(&splits[SIZES - 1 - __builtin_clzll(bytes)], copy_range, &context, (int64_t)bytes);
    return true;
}

/* A message to oneself: the MPI knows every datatype, and copies between the two at once. */
static int copy(struct hw_rma_part from, struct hw_rma_part to)
{
    if (copy_shared(from, to))
        return MPI_SUCCESS;
    static atomic_uint copies; /* threads that copy at the same time must not receive each other's */
    int tag = (int)(hw_atomic_add_relaxed(&copies, 1) % TAG_COUNT);
    return hw_bottom.Sendrecv(from.address, (int)from.count, from.type, 0, tag, (void *)to.address,
                              (int)to.count, to.type, 0, tag, hw_rma_nearby_comm(), HW_STATUS_IGNORE);
}

/* Whether it can be done here; then the target's place in memory is the address of TARGET, or *rc is an error
 * that the program got. */
static bool reach(struct hw_rma_window *window, MPI_Count origin_count, int rank, MPI_Aint disp,
                  struct hw_rma_part *target, int *rc)
{
    if (disp < 0 || origin_count > INT_MAX || target->count > INT_MAX)
        return false;
    struct hw_rma_target *place = &window->targets[rank];
    *rc = MPI_SUCCESS;
    if (!hw_atomic_load_relaxed(&window->is_open) &&
        hw_atomic_load_relaxed(&place->access) == HW_RMA_ACCESS_NONE)
        *rc = hw_rma_open_target(window, rank);
    target->address = place->memory + disp * place->disp_unit;
    HW_COUNT(operations_copied);
    return true;
}

int hw_rma_near_complete(const struct hw_rma_window *window, MPI_Request *request)
{
    if (request == NULL)
        return MPI_SUCCESS;
    return hw_rma_pass(window, window->win,
                       hw_bottom.Rput(NULL, 0, HW_BYTE, HW_PROC_NULL, 0, 0, HW_BYTE, window->win, request));
}

static void finish(struct hw_rma_window *window, MPI_Request *request, int *rc)
{
    hw_ghost_channel_progress_sometimes();
    if (*rc != MPI_SUCCESS)
        hw_rma_raise(window, *rc);
    else
        *rc = hw_rma_near_complete(window, request);
}

bool hw_rma_near_put(struct hw_rma_window *window, struct hw_rma_part origin, int rank, MPI_Aint disp,
                     struct hw_rma_part target, MPI_Request *request, int *rc)
{
    if (!reach(window, origin.count, rank, disp, &target, rc))
        return false;
    if (*rc != MPI_SUCCESS)
        return true;
    *rc = copy(origin, target);
    finish(window, request, rc);
    return true;
}

bool hw_rma_near_get(struct hw_rma_window *window, struct hw_rma_part origin, int rank, MPI_Aint disp,
                     struct hw_rma_part target, MPI_Request *request, int *rc)
{
    if (!reach(window, origin.count, rank, disp, &target, rc))
        return false;
    if (*rc != MPI_SUCCESS)
        return true;
    *rc = copy(target, origin);
    finish(window, request, rc);
    return true;
}
