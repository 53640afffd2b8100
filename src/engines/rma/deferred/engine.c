/* SPDX-License-Identifier: BSD-3-Clause */
/* Epochs that begin before their target is open, as an engine: only if the user asks for it
 * (HEADWAY_DEFER). */
#include "engines/engine.h"

#include "base/log.h"
#include "base/options.h"
#include "engines/rma/deferred/calls.h"
#include "engines/rma/deferred/late.h"
#include "engines/rma/window/facts.h"
#include "progress/deferred.h"
#include "world/world.h"

static void prepare(void)
{
    if (hw_options.defer == HW_OPTION_DEFER_ON && hw_options.ghosts.count == 0)
        hw_log_note("HEADWAY_DEFER has no epochs to defer without ghosts; set HEADWAY_GHOSTS");
}

static enum hw_status begin(void)
{
    if (hw_options.defer != HW_OPTION_DEFER_ON || !hw_world_has_ghosts())
        return HW_DECLINED;
    if (hw_rma_may_have_threads()) {
        hw_record_declined("deferred epochs: several threads of the program may call MPI at once");
        return HW_DECLINED;
    }
    hw_deferred_open(hw_rma_late_look_in_turn);
    return HW_OK;
}

/* Nobody can ask the MPI whether a call would wait. */
static void left(int change)
{
    if (change > 0)
        hw_record_declined("deferred epochs: a window that the MPI serves keeps the MPI's epochs");
}

const struct hw_engine hw_engine_rma_deferred = {
    .name = "rma_deferred",
    .prepare = prepare,
    .begin = begin,
    .rma = &hw_rma_deferred_operations,
    .epoch = &hw_rma_deferred_epochs,
    .window = &hw_rma_deferred_windows,
    .window_place = hw_rma_deferred_window_place,
    .left = left,
    .goes = hw_rma_late_look_in_call,
};
