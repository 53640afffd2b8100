#include "engines/rma/operation/near.h"

#include "base/options.h"
#include "engines/rma/window/spread.h"
#include "ghost/channel.h"
#include "profile/counters.h"
#include "real/constants.h"
#include "real/software_rma.h"
#include "world/world.h"

#include <limits.h>

enum { TAG_COUNT = 1 << 14 };

static MPI_Comm self;
static bool is_open, may_accumulate;

void hw_rma_near_open(void)
{
    if (hw_options.redirect == HW_OPTION_REDIRECT_ON ||
        hw_bottom.Comm_dup(HW_COMM_SELF, &self) != MPI_SUCCESS)
        return;
    hw_bottom.Comm_set_errhandler(self, HW_ERRORS_RETURN);
    is_open = true;
    may_accumulate = hw_real_is_accumulate_in_calls();
}

MPI_Comm hw_rma_near_comm(void) { return self; }

void hw_rma_near_close(void)
{
    if (is_open)
        hw_bottom.Comm_free(&self);
    is_open = false;
}

/* NULL: accumulates on this target are the ghost's. A ghost that has only a part of the target's memory
 * excludes nobody from the rest. */
static struct hw_ghost_apply_lock *lock_of(const struct hw_rma_window *window,
                                           const struct hw_rma_target *target)
{
    if (!may_accumulate || (window->spread && window->spread->binding != HW_OPTION_GHOST_BINDING_RANK))
        return NULL;
    return hw_ghost_apply_lock_of(hw_world.processes[target->ghost_in_world].local_index);
}

/* The memory of this node's members in this process; NULL: not reached from here. */
static char *map_node(struct hw_rma_window *window)
{
    MPI_Aint size;
    int unit;
    char *base = NULL;
    if (window->shared != HW_WIN_NULL) {
        int rc = hw_bottom.Win_shared_query(window->shared, HW_PROC_NULL, &size, &unit, &base);
        return rc == MPI_SUCCESS ? base : NULL;
    }
    if (window->piece_count > 1) /* else there is nobody else's */
        window->mapped = hw_ghost_node_memory_map(window->pieces, window->piece_count, 0);
    return window->mapped;
}

void hw_rma_near_find(struct hw_rma_window *window, void *own)
{
    int own_node = hw_world_own_node();
    char *base = is_open ? map_node(window) : NULL;
    for (int i = 0; is_open && i < window->size; i++) {
        struct hw_rma_target *target = &window->targets[i];
        if (target->node != own_node)
            continue;
        if (i == window->rank)
            target->memory = own;
        else if (base)
            target->memory = base + target->offset;
        if (target->memory)
            target->lock = lock_of(window, target);
    }
}

/* A message to oneself: the MPI knows every datatype, and copies between the two at once. */
static int copy(struct hw_rma_part from, struct hw_rma_part to)
{
    static atomic_uint copies; /* threads that copy at the same time must not receive each other's */
    int tag = (int)(hw_atomic_add_relaxed(&copies, 1) % TAG_COUNT);
    return hw_bottom.Sendrecv(from.address, (int)from.count, from.type, 0, tag, (void *)to.address,
                              (int)to.count, to.type, 0, tag, self, HW_STATUS_IGNORE);
}

/* Whether the target's memory is reached from here; then it is the address of TARGET, or *rc is an error that
 * the program got. */
static bool reach(struct hw_rma_window *window, MPI_Count origin_count, int rank, MPI_Aint disp,
                  struct hw_rma_part *target, int *rc)
{
    if (!hw_rma_is_near(window, rank) || disp < 0 || origin_count > INT_MAX || target->count > INT_MAX)
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
