/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/window/barrier.h"

#include "engines/rma/window/agree.h"
#include "engines/rma/window/table.h"
#include "objects/comm_state.h"
#include "real/constants.h"

#include <stdlib.h>

/* Every so many of the barriers of one communicator is a meeting; after a change of routes more of them, for
 * some meetings. */
enum { STRIDE = 16, STRIDE_SOON = 2, MEETINGS_SOON = 4 };

/* The attribute of a communicator that has barriers while there are windows that ask for them. */
struct barriers {
    uint64_t stamp;   /* hw_rma_table_stamp when the windows were looked for */
    bool has_windows; /* of the communicator's processes; alike at all of them, like the next */
    int left;         /* until the next meeting, while there are such; 0: none was counted yet */
    int soon;         /* of the next meetings so many come soon */
};

static struct hw_comm_state state = HW_COMM_STATE_CLOSED;

static void *make_barriers(MPI_Comm comm)
{
    (void)comm;
    return calloc(1, sizeof(struct barriers));
}

/* Those of the communicator's processes, the oldest first; returns how many there are, MAX at most. */
static int find_windows(MPI_Comm comm, struct hw_rma_window **windows, int max)
{
    MPI_Group group;
    int count = 0, is_inter = 0;
    if (hw_bottom.Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || is_inter ||
        hw_bottom.Comm_group(comm, &group) != MPI_SUCCESS)
        return 0;
    count = hw_rma_table_at_barriers(group, windows, max);
    hw_bottom.Group_free(&group);
    return count;
}

static int meet(MPI_Comm comm, struct barriers *barriers)
{
    struct hw_rma_window *windows[HW_RMA_AGREE_MAX];
    int count = find_windows(comm, windows, HW_RMA_AGREE_MAX);
    int parts = barriers->soon > 0 ? 1 : STRIDE / STRIDE_SOON;
    bool is_changed;
    if (count == 0)
        return HW_DECLINES;
    int rc = hw_rma_agree_several(windows, count, parts, &is_changed);
    if (is_changed)
        barriers->soon = MEETINGS_SOON;
    else if (barriers->soon > 0)
        barriers->soon--;
    barriers->left = barriers->soon > 0 ? STRIDE_SOON : STRIDE;
    if (rc != MPI_SUCCESS)
        hw_real.Comm_call_errhandler(comm, rc);
    return rc;
}

static int barrier(MPI_Comm comm)
{
    uint64_t stamp = hw_atomic_load_relaxed(&hw_rma_table_stamp);
    if (__builtin_expect(hw_atomic_load_relaxed(&hw_rma_table_at_barriers_count) == 0, 1) ||
        comm == HW_COMM_NULL)
        return HW_DECLINES;
    struct barriers *barriers = hw_comm_state_of(&state, comm, make_barriers);
    if (barriers == NULL) /* the others may count */
        return hw_bottom.Comm_call_errhandler(comm, MPI_ERR_NO_MEM), MPI_ERR_NO_MEM;
    if (barriers->stamp != stamp) {
        struct hw_rma_window *one;
        barriers->has_windows = find_windows(comm, &one, 1) > 0;
        barriers->stamp = stamp;
    }
    if (!barriers->has_windows)
        return HW_DECLINES;
    if (barriers->left == 0)
        barriers->left = STRIDE;
    return --barriers->left == 0 ? meet(comm, barriers) : HW_DECLINES;
}

void hw_rma_barrier_close(void) { hw_comm_state_close(&state); }

const struct hw_engine_collective hw_rma_collective_calls = {.barrier = barrier};
