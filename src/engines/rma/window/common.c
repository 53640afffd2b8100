/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/window/common.h"

#include "base/options.h"
#include "engines/rma/window/route.h"
#include "ghost/node_memory.h"
#include "real/constants.h"
#include "world/world.h"

#include <pthread.h>

static bool is_there;
static MPI_Win common;
static MPI_Comm self; /* private: the program's handler of MPI_COMM_SELF has nothing to do with it */

static bool may_be_spread(void)
{
    bool is_asked_for = hw_options.ghost_binding != HW_OPTION_GHOST_BINDING_RANK ||
                        hw_options.ghost_balance != HW_OPTION_GHOST_BALANCE_OFF;
    return is_asked_for && hw_world.ghost_count > hw_world.node_count;
}

static bool make(void)
{
    struct hw_ghost_ranges memory = {0};
    if (hw_world_is_ghost()) {
        memory = hw_ghost_node_memory_ranges();
    } else if (hw_rma_route_may_use_owner()) {
        struct hw_arena_range own = hw_arena_range();
        memory = (struct hw_ghost_ranges){.memory = own.base, .bytes = (int64_t)own.bytes};
    }
    if (hw_bottom.Win_create(memory.memory, (MPI_Aint)memory.bytes, 1, HW_INFO_NULL, hw_world.ghosts_first,
                             &common) != MPI_SUCCESS)
        return false;
    if (hw_world_is_ghost())
        return true;
    return hw_bottom.Win_set_errhandler(common, HW_ERRORS_RETURN) == MPI_SUCCESS &&
           hw_bottom.Comm_dup(HW_COMM_SELF, &self) == MPI_SUCCESS &&
           hw_bottom.Comm_set_errhandler(self, HW_ERRORS_RETURN) == MPI_SUCCESS &&
           hw_real.Win_lock_all(MPI_MODE_NOCHECK, common) == MPI_SUCCESS;
}

void hw_rma_common_make(void)
{
    if (hw_world_have_all(hw_world.all, hw_ghost_node_memory_has_ranges() && !may_be_spread()))
        is_there = hw_world_have_all(hw_world.all, make());
}

void hw_rma_common_free(void)
{
    if (!is_there)
        return;
    is_there = false;
    if (!hw_world_is_ghost()) {
        hw_real.Win_unlock_all(common);
        hw_bottom.Comm_free(&self);
    }
    hw_bottom.Win_free(&common);
}

bool hw_rma_common_is_there(void) { return is_there; }

MPI_Win hw_rma_common_win(void) { return common; }

int hw_rma_common_make_handle(void *base, MPI_Aint size, int disp_unit, MPI_Info hints, MPI_Win *handle)
{
    /* Threads that make windows over different communicators share this one. */
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    int rc = hw_bottom.Win_create(base, size, disp_unit, hints, self, handle);
    pthread_mutex_unlock(&mutex);
    return rc == MPI_SUCCESS ? hw_real.Win_lock_all(MPI_MODE_NOCHECK, *handle) : rc;
}
