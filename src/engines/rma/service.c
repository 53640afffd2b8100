/* SPDX-License-Identifier: BSD-3-Clause */
/* What the one-sided engine is to ghosts and user processes when a job begins and ends. */
#include "ghost/service.h"
#include "base/log.h"
#include "engines/rma/adapt/adapt.h"
#include "engines/rma/deferred/calls.h"
#include "engines/rma/deferred/late.h"
#include "engines/rma/epoch/epoch.h"
#include "engines/rma/epoch/flush_wait.h"
#include "engines/rma/epoch/owed.h"
#include "engines/rma/ghost/windows.h"
#include "engines/rma/operation/near_accumulate.h"
#include "engines/rma/rma.h"
#include "engines/rma/window/barrier.h"
#include "engines/rma/window/common.h"
#include "engines/rma/window/facts.h"
#include "engines/rma/window/make.h"
#include "engines/rma/window/nearby.h"
#include "engines/rma/window/protocol.h"
#include "engines/rma/window/table.h"

static enum hw_status open_windows(void)
{
    hw_rma_facts_find();
    hw_rma_adapt_open();
    hw_rma_owed_open();
    hw_rma_flush_wait_open();
    hw_rma_nearby_open();
    hw_rma_common_make();
    if (hw_rma_table_open() == HW_OK)
        return HW_OK;
    hw_log_error("no memory for the table of windows; run without HEADWAY_GHOSTS");
    return HW_NOMEM;
}

/* What the program did not free is freed, in an order that is the same at all processes; threads may have
 * made windows in any. */
static void leave_windows(void)
{
    hw_rma_late_settle_everything();
    hw_engines_end(&hw_engine_rma_deferred);
    for (struct hw_rma_window *window; (window = hw_rma_window_first()) != NULL;) {
        MPI_Win win = window->handle;
        hw_rma_late_forget(window);
        hw_rma_epochs_end(window);
        hw_rma_freeing = window;
        if (hw_rma_window_free(window, &win, true) != MPI_SUCCESS)
            break;
    }
    hw_rma_freeing = NULL;
    hw_rma_adapt_tell();
    hw_engines_end(&hw_engine_rma);
    hw_rma_table_close();
}

static void close_windows(void)
{
    hw_rma_flush_wait_close();
    hw_rma_barrier_close();
    hw_rma_common_free();
    hw_rma_near_accumulate_close();
    hw_rma_nearby_close();
}

static const struct hw_ghost_service service = {
    .name = "windows",
    .tags = {HW_RMA_TAG_CREATE, HW_RMA_TAG_BEHIND - HW_RMA_TAG_CREATE},
    .begin = hw_rma_common_make,
    .end = hw_rma_common_free,
    .obey = hw_rma_ghost_windows_obey,
    .needs_net = hw_rma_ghost_windows_are_there,
    .open = open_windows,
    .leave = leave_windows,
    .close = close_windows,
};

void hw_rma_prepare(void)
{
    if (hw_ghost_service_add(&service) != HW_OK)
        hw_log_error("two services of ghosts have the same tags");
}
