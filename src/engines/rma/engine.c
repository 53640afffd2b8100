/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication through ghosts as an engine: it is asked while there are ghosts. */
#include "engines/engine.h"

#include "base/log.h"
#include "base/options.h"
#include "engines/rma/adapt/told.h"
#include "engines/rma/epoch/calls.h"
#include "engines/rma/epoch/lock.h"
#include "engines/rma/epoch/owed.h"
#include "engines/rma/operation/calls.h"
#include "engines/rma/operation/requests.h"
#include "engines/rma/rma.h"
#include "engines/rma/window/barrier.h"
#include "engines/rma/window/calls.h"
#include "engines/rma/window/facts.h"
#include "engines/rma/window/plan.h"
#include "engines/rma/window/table.h"
#include "ghost/bell.h"
#include "ghost/user.h"
#include "real/constants.h"
#include "real/quirks.h"
#include "world/world.h"

#include <stdlib.h>

static void prepare(void)
{
    if (hw_options.ghosts.count == 0) {
        if (getenv("HEADWAY_ADAPT"))
            hw_log_note("HEADWAY_ADAPT has nothing to adapt without ghosts; set HEADWAY_GHOSTS");
        return;
    }
    hw_real_make_room_for_accumulates();
    hw_rma_prepare();
}

static void joined(int level, bool is_session)
{
    if (is_session)
        hw_rma_owed_stop(); /* it may be another thread's */
    if (level == HW_THREAD_MULTIPLE)
        hw_rma_expect_threads();
}

static enum hw_status begin(void) { return hw_world_has_ghosts() ? HW_OK : HW_DECLINED; }

/* It is told of requests where a ghost may have to be told that somebody waits for them. */
static enum hw_status start(bool has_world, uint64_t *min_bytes)
{
    (void)min_bytes; /* it enters its requests itself (operation/calls.c) */
    return has_world && hw_rma_is_on() && hw_ghost_bell_of(0) ? HW_OK : HW_DECLINED;
}

static void describe(struct hw_record_facts *facts)
{
    if (!hw_rma_is_on())
        return;
    hw_rma_table_count();
    facts->ghost_cpu_ns = hw_ghost_user_cpu_ns();
    hw_rma_told_describe(facts);
}

/* The program may load and store from then on what it has been shown. */
static bool window_place(MPI_Win *win, int *rank, struct hw_engine_place *place)
{
    struct hw_rma_window *window = hw_rma_find(*win);
    bool is_ours = hw_rma_window_place(win, rank, place);
    if (is_ours && window)
        hw_rma_open_shown(window); /* an error is raised */
    return is_ours;
}

const struct hw_engine hw_engine_rma = {
    .name = "rma",
    .prepare = prepare,
    .joined = joined,
    .begin = begin,
    .rma = &hw_rma_operation_calls,
    .epoch = &hw_rma_epoch_calls,
    .window = &hw_rma_window_calls,
    .collective = &hw_rma_collective_calls,
    .window_place = window_place,
    .left = hw_rma_count_declined,
    .start = start,
    .waits = hw_rma_requests_waits,
    .returned = hw_rma_requests_returned,
    .describe = describe,
};
